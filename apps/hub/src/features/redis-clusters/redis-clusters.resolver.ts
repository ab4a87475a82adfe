import { Args, Context, ID, Info, Int, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { selectedFields, type Loaders } from '../../platform/graphql/index.ts';
import { Project, ProjectLoader } from '../access/index.ts';
import { MemberCluster, MemberClusterLoader } from '../member-clusters/index.ts';
import { RedisClusterFilter } from './redis-cluster.filter.ts';
import { RedisCluster, RedisClusterConnection } from './redis-cluster.model.ts';
import { RedisClusterStatusLoader } from './redis-cluster-status.loader.ts';
import type { StatusSummary } from './redis-cluster-status.mapper.ts';
import { RedisClusterStatus } from './redis-cluster-status.model.ts';
import { RedisClustersService } from './redis-clusters.service.ts';

@Resolver(() => RedisCluster)
export class RedisClustersResolver {
  constructor(
    private readonly redisClusters: RedisClustersService,
    private readonly statuses: RedisClusterStatusLoader,
    private readonly memberClusters: MemberClusterLoader,
    private readonly projects: ProjectLoader,
  ) {}

  @Query(() => RedisCluster, { nullable: true, description: 'Null when there is none that you may see.' })
  redisCluster(
    @Args('id', { type: () => ID }) id: string,
    @Context('caller') caller: Caller,
  ): Promise<RedisCluster | null> {
    return this.redisClusters.find(id, caller);
  }

  @Query(() => RedisClusterConnection, { name: 'redisClusters', description: 'In the order of their creation.' })
  list(
    @Args('first', { type: () => Int, nullable: true, defaultValue: 50, description: 'At most 100.' })
    first: number | null | undefined,
    @Args('after', { type: () => String, nullable: true }) after: string | undefined,
    @Args('filter', { type: () => RedisClusterFilter, nullable: true }) filter: RedisClusterFilter | undefined,
    @Context('caller') caller: Caller,
  ): Promise<RedisClusterConnection> {
    return this.redisClusters.list({ first, after, filter: filter ?? {} }, caller);
  }

  @ResolveField(() => RedisClusterStatus, { nullable: true, description: 'Null until the agent has reported.' })
  status(
    @Parent() parent: RedisCluster,
    @Context('loaders') loaders: Loaders,
    @Info() info: GraphQLResolveInfo,
  ): Promise<StatusSummary | null> {
    return this.statuses.load(loaders, parent.hubUid, selectedFields(info));
  }

  @ResolveField(() => MemberCluster)
  memberCluster(@Parent() parent: RedisCluster, @Context('loaders') loaders: Loaders): Promise<MemberCluster> {
    return this.memberClusters.load(loaders, parent.memberClusterId);
  }

  @ResolveField(() => Project)
  project(@Parent() parent: RedisCluster, @Context('loaders') loaders: Loaders): Promise<Project> {
    return this.projects.load(loaders, parent.projectId);
  }
}

@Resolver(() => RedisClusterConnection)
export class RedisClusterConnectionResolver {
  @ResolveField(() => Int, { description: 'Counted only when selected.' })
  totalCount(@Parent() parent: RedisClusterConnection, @Context('loaders') loaders: Loaders): Promise<number> {
    return parent.countOf(loaders);
  }
}
