import { Args, Context, ID, Int, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { type Caller, hasFleetRole } from '../../platform/auth/index.ts';
import { GraphQLLong, type Loaders } from '../../platform/graphql/index.ts';
import { AgentLoader } from './agent.loader.ts';
import { EnrolmentMutationsService } from './enrolment-mutations.service.ts';
import {
  ApproveAgentInput,
  EnrolMemberClusterInput,
  ForgetMemberClusterInput,
  ReplaceMemberClusterInput,
  RevokeAgentInput,
} from './member-cluster.inputs.ts';
import { Agent, LocalObject, MemberCluster, MemberClusterConnection } from './member-cluster.model.ts';
import {
  ApproveAgentPayload,
  EnrolMemberClusterPayload,
  ForgetMemberClusterPayload,
  ReplaceMemberClusterPayload,
  RevokeAgentPayload,
} from './member-cluster.payload.ts';
import { MemberClusterReadsService } from './member-cluster-reads.service.ts';

@Resolver()
export class MemberClustersResolver {
  constructor(
    private readonly reads: MemberClusterReadsService,
    private readonly enrolment: EnrolmentMutationsService,
  ) {}

  @Query(() => MemberCluster, { nullable: true, description: 'Null when there is none.' })
  memberCluster(
    @Args('id', { type: () => ID }) id: string,
    @Context('caller') caller: Caller,
  ): Promise<MemberCluster | null> {
    return this.reads.find(id, caller);
  }

  @Query(() => MemberClusterConnection, { description: 'In the order of their enrolment, without forgotten ones.' })
  memberClusters(
    @Args('first', { type: () => Int, nullable: true, defaultValue: 50, description: 'At most 100.' })
    first: number | null | undefined,
    @Args('after', { type: () => String, nullable: true }) after: string | undefined,
    @Context('caller') caller: Caller,
  ): Promise<MemberClusterConnection> {
    return this.reads.list(first, after, caller);
  }

  @Query(() => [LocalObject], {
    description:
      'RedisClusters that the hub does not manage: made by hand, or UNCLAIMED. Needs a role over the whole fleet.',
  })
  localObjects(
    @Args('memberClusterId', { type: () => ID }) memberClusterId: string,
    @Context('caller') caller: Caller,
  ): Promise<LocalObject[]> {
    return this.reads.localObjects(memberClusterId, caller);
  }

  @Mutation(() => EnrolMemberClusterPayload, {
    description: 'Makes a pending member cluster and agent, a one-time token and the command that installs the agent.',
  })
  enrolMemberCluster(
    @Args('input') input: EnrolMemberClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<EnrolMemberClusterPayload> {
    return this.enrolment.enrol(input, caller);
  }

  @Mutation(() => ApproveAgentPayload, {
    description:
      'Binds the key and the fingerprint that the agent sent. A quarantined agent gets its key back: look at both clusters first.',
  })
  approveAgent(
    @Args('input') input: ApproveAgentInput,
    @Context('caller') caller: Caller,
  ): Promise<ApproveAgentPayload> {
    return this.enrolment.approve(input, caller);
  }

  @Mutation(() => ReplaceMemberClusterPayload, {
    description:
      'Approves an enrolled agent in the place of the one that served the same scope: that one is revoked, its objects are handed over, nothing is deleted or made anew.',
  })
  replaceMemberCluster(
    @Args('input') input: ReplaceMemberClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<ReplaceMemberClusterPayload> {
    return this.enrolment.replace(input, caller);
  }

  @Mutation(() => RevokeAgentPayload, { description: 'Ends its session at once and refuses its key from now on.' })
  revokeAgent(@Args('input') input: RevokeAgentInput, @Context('caller') caller: Caller): Promise<RevokeAgentPayload> {
    return this.enrolment.revoke(input, caller);
  }

  @Mutation(() => ForgetMemberClusterPayload, {
    description: 'Revokes its agents and drops it from the fleet. What runs there goes on, unmanaged, and is listed.',
  })
  forgetMemberCluster(
    @Args('input') input: ForgetMemberClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<ForgetMemberClusterPayload> {
    return this.enrolment.forget(input, caller);
  }
}

@Resolver(() => MemberClusterConnection)
export class MemberClusterConnectionResolver {
  @ResolveField(() => Int, { description: 'Counted only when selected.' })
  totalCount(@Parent() parent: MemberClusterConnection, @Context('loaders') loaders: Loaders): Promise<number> {
    return parent.countOf(loaders);
  }
}

const OF_THE_FLEET = 'Needs a role over the whole fleet, since it tells what happens in every project;';

/**
 * Every role sees the agents of the member clusters that its objects are in. How many changes an agent was sent, and when,
 * is made of all projects together: who has a role in one of them alone is not told what the others do.
 */
@Resolver(() => Agent)
export class AgentResolver {
  constructor(private readonly agents: AgentLoader) {}

  @ResolveField(() => MemberCluster)
  memberCluster(@Parent() parent: Agent, @Context('loaders') loaders: Loaders): Promise<MemberCluster> {
    return this.agents.memberClusterOf(loaders, parent);
  }

  @ResolveField(() => GraphQLLong, {
    description: `Desired revision that the agent has processed. ${OF_THE_FLEET} 0 else.`,
  })
  appliedRevision(@Parent() parent: Agent, @Context('caller') caller: Caller): number {
    return seesFleet(caller) ? parent.appliedRevision : 0;
  }

  @ResolveField(() => GraphQLLong, { description: `${OF_THE_FLEET} 0 else.` })
  desiredRevision(@Parent() parent: Agent, @Context('caller') caller: Caller): number {
    return seesFleet(caller) ? parent.desiredRevision : 0;
  }

  @ResolveField(() => GraphQLLong, { description: `Rises with each accepted session. ${OF_THE_FLEET} 0 else.` })
  sessionNo(@Parent() parent: Agent, @Context('caller') caller: Caller): number {
    return seesFleet(caller) ? parent.sessionNo : 0;
  }

  @ResolveField(() => String, {
    nullable: true,
    description: `The hub replica that holds the session, while there is one. ${OF_THE_FLEET} null else.`,
  })
  replica(@Parent() parent: Agent, @Context('caller') caller: Caller): string | null {
    return seesFleet(caller) ? parent.replica : null;
  }
}

const seesFleet = ({ viewer }: Caller): boolean => hasFleetRole(viewer, 'VIEWER');
