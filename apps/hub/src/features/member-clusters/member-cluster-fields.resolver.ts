import type { Freshness } from '#domain';
import { Context, Float, GraphQLISODateTime, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { Loaders } from '../../platform/graphql/index.ts';
import { AgentLoader } from './agent.loader.ts';
import { Freshnesses } from './member-cluster.enums.ts';
import { Agent, MemberCluster } from './member-cluster.model.ts';

/** Fields of a member cluster that come from its agents. */
@Resolver(() => MemberCluster)
export class MemberClusterFieldsResolver {
  constructor(private readonly agents: AgentLoader) {}

  @ResolveField(() => [Agent], { name: 'agents', description: 'Without revoked ones.' })
  list(@Parent() parent: MemberCluster, @Context('loaders') loaders: Loaders): Promise<readonly Agent[]> {
    return this.agents.ofMemberCluster(loaders, parent.memberClusterId);
  }

  @ResolveField(() => Freshnesses, { description: 'That of the least fresh of its approved agents.' })
  freshness(@Parent() parent: MemberCluster, @Context('loaders') loaders: Loaders): Promise<Freshness> {
    return this.agents.freshnessOf(loaders, parent.memberClusterId);
  }

  @ResolveField(() => GraphQLISODateTime, { nullable: true, description: 'When that agent was last heard of.' })
  seenAt(@Parent() parent: MemberCluster, @Context('loaders') loaders: Loaders): Promise<Date | null> {
    return this.agents.seenAtOf(loaders, parent.memberClusterId);
  }

  @ResolveField(() => Float, { nullable: true })
  ageSeconds(@Parent() parent: MemberCluster, @Context('loaders') loaders: Loaders): Promise<number | null> {
    return this.agents.ageSecondsOf(loaders, parent.memberClusterId);
  }
}
