/** The modules of the public API; the agents' side is features/agent-link. */
import { AccessModule } from './features/access/index.ts';
import { AuditModule } from './features/audit/index.ts';
import { EventsModule } from './features/events/index.ts';
import { FleetHealthModule } from './features/health/index.ts';
import { MemberClustersApiModule } from './features/member-clusters/index.ts';
import { RedisClustersModule } from './features/redis-clusters/index.ts';
import { AuthModule } from './platform/auth/index.ts';
import { GraphqlApiModule } from './platform/graphql/index.ts';

export const API_MODULES = [
  AuthModule,
  GraphqlApiModule,
  AccessModule,
  AuditModule,
  EventsModule,
  FleetHealthModule,
  MemberClustersApiModule,
  RedisClustersModule,
];
