/** Every resolver of the API: the schema is what they say, with or without a running hub. */
import { AccessResolver } from './features/access/index.ts';
import { AuditResolver } from './features/audit/index.ts';
import { FleetEventsResolver } from './features/events/index.ts';
import { FleetHealthChangesResolver, FleetHealthResolver } from './features/health/index.ts';
import {
  AgentResolver,
  MemberClusterConnectionResolver,
  MemberClusterFieldsResolver,
  MemberClustersResolver,
} from './features/member-clusters/index.ts';
import {
  RedisClusterChangesResolver,
  RedisClusterConnectionResolver,
  RedisClusterMutationsResolver,
  RedisClustersResolver,
} from './features/redis-clusters/index.ts';
import { NodeResolver } from './platform/graphql/index.ts';

export const RESOLVERS = [
  NodeResolver,
  AccessResolver,
  MemberClustersResolver,
  MemberClusterConnectionResolver,
  MemberClusterFieldsResolver,
  AgentResolver,
  RedisClustersResolver,
  RedisClusterConnectionResolver,
  RedisClusterMutationsResolver,
  RedisClusterChangesResolver,
  FleetHealthResolver,
  FleetHealthChangesResolver,
  FleetEventsResolver,
  AuditResolver,
];
