import { Module } from '@nestjs/common';
import { AuthModule } from '../../platform/auth/index.ts';
import { GraphqlApiModule } from '../../platform/graphql/index.ts';
import { AccessModule } from '../access/index.ts';
import { AuditModule } from '../audit/index.ts';
import { EventsModule } from '../events/index.ts';
import { MemberClustersApiModule } from '../member-clusters/index.ts';
import { ApproveDeletesService } from './approve-deletes.service.ts';
import { CreateRedisClusterService } from './create-redis-cluster.service.ts';
import { OpenRedisClusterService } from './open-redis-cluster.service.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import { RedisClusterChangesResolver } from './redis-cluster-changes.resolver.ts';
import { RedisClusterMutationsResolver } from './redis-cluster-mutations.resolver.ts';
import { RedisClusterStatusLoader } from './redis-cluster-status.loader.ts';
import { RedisClusterWritesRepository } from './redis-cluster-writes.repository.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';
import { RedisClusterConnectionResolver, RedisClustersResolver } from './redis-clusters.resolver.ts';
import { RedisClustersService } from './redis-clusters.service.ts';
import { RemoveRedisClusterService } from './remove-redis-cluster.service.ts';
import { RepairRedisClusterService } from './repair-redis-cluster.service.ts';
import { ReviseRedisClusterService } from './revise-redis-cluster.service.ts';
import { UpdateRedisClusterService } from './update-redis-cluster.service.ts';
import { WatchRedisClusterService } from './watch-redis-cluster.service.ts';

@Module({
  imports: [AuthModule, GraphqlApiModule, AccessModule, AuditModule, EventsModule, MemberClustersApiModule],
  providers: [
    RedisClustersRepository,
    RedisClusterWritesRepository,
    RedisClusterStatusLoader,
    RedisClustersService,
    OpenRedisClusterService,
    PresentRedisClusterService,
    ReviseRedisClusterService,
    CreateRedisClusterService,
    UpdateRedisClusterService,
    RepairRedisClusterService,
    RemoveRedisClusterService,
    ApproveDeletesService,
    WatchRedisClusterService,
    RedisClustersResolver,
    RedisClusterConnectionResolver,
    RedisClusterMutationsResolver,
    RedisClusterChangesResolver,
  ],
})
export class RedisClustersModule {}
