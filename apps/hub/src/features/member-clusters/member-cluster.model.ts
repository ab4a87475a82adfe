import type { ErrorCode, Freshness } from '#domain';
import { Field, Float, GraphQLISODateTime, ID, ObjectType } from '@nestjs/graphql';
import { connectionOf, ErrorCodes, GraphQLJson, Node, type Loaders } from '../../platform/graphql/index.ts';
import {
  AgentStates,
  Freshnesses,
  Inventories,
  MemberClusterStates,
  ScopeKinds,
  type AgentState,
  type Inventory,
  type MemberClusterState,
  type ScopeKind,
} from './member-cluster.enums.ts';

@ObjectType({ description: 'Why what an agent reports may not be what is.' })
export class AgentProblem {
  @Field(() => ErrorCodes, {
    description: 'MEMBER_API_DOWN: the agent speaks, but does not see its API server. AGENT_UNREACHABLE: it is silent.',
  })
  code!: ErrorCode;

  @Field(() => String, { description: 'What to do next.' })
  message!: string;
}

@ObjectType({
  implements: () => [Node],
  description: "The process in a member cluster: the hub's hands and the Redis operator.",
})
export class Agent implements Node {
  @Field(() => ID)
  id!: string;

  @Field(() => ScopeKinds)
  scope!: ScopeKind;

  @Field(() => String, { nullable: true, description: 'The namespace that an agent of scope NAMESPACE owns.' })
  namespace!: string | null;

  @Field(() => AgentStates)
  state!: AgentState;

  @Field(() => String, { nullable: true, description: 'Why it may not speak to the hub, and what to do about it.' })
  stateReason!: string | null;

  @Field(() => [String], {
    description: 'SHA-256 fingerprints of the CAs by which it knows the hub, as of its last Hello.',
  })
  trustedCas!: string[];

  @Field(() => String, { nullable: true })
  version!: string | null;

  @Field(() => String, { nullable: true, description: 'Fingerprint of the Kubernetes cluster that the agent runs in.' })
  fingerprint!: string | null;

  @Field(() => Boolean)
  connected!: boolean;

  @Field(() => Inventories)
  inventory!: Inventory;

  @Field(() => AgentProblem, { nullable: true, description: 'None: what it reports is what is.' })
  problem!: AgentProblem | null;

  /** Told by AgentResolver to who may know them. */
  appliedRevision!: number;
  desiredRevision!: number;
  sessionNo!: number;
  replica!: string | null;

  @Field(() => Freshnesses)
  freshness!: Freshness;

  @Field(() => GraphQLISODateTime, { nullable: true })
  seenAt!: Date | null;

  @Field(() => Float, { nullable: true })
  ageSeconds!: number | null;

  /** Key for the field resolvers; not in the schema. */
  memberClusterId!: string;
}

@ObjectType({ implements: () => [Node], description: 'A Kubernetes cluster that has enrolled with the hub.' })
export class MemberCluster implements Node {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLJson)
  labels!: unknown;

  @Field(() => String, { nullable: true })
  region!: string | null;

  @Field(() => String, { nullable: true })
  fingerprint!: string | null;

  @Field(() => MemberClusterStates)
  state!: MemberClusterState;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  /** Key for the field resolvers; not in the schema. */
  memberClusterId!: string;
}

@ObjectType()
export class MemberClusterConnection extends connectionOf(MemberCluster, 'MemberCluster') {
  /** What totalCount counts; not in the schema. */
  countOf!: (loaders: Loaders) => Promise<number>;
}

@ObjectType({ description: 'A RedisCluster in a member cluster that the hub does not manage.' })
export class LocalObject {
  @Field(() => String)
  kind!: string;

  @Field(() => String)
  namespace!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'metadata.uid' })
  kubeUid!: string;

  @Field(() => Boolean, { description: "It carries a hub's identity that this hub does not know (any more)." })
  unclaimed!: boolean;

  @Field(() => ID, { nullable: true, description: "The hub's identity that its annotation names." })
  claimedHubUid!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why it is not what its annotations say: they were copied from another object.',
  })
  warning!: string | null;

  @Field(() => String, { nullable: true, description: "Phase, in the custom resource's own words." })
  phase!: string | null;

  @Field(() => String, { nullable: true })
  mode!: string | null;

  @Field(() => GraphQLJson, { nullable: true, description: 'The spec as it is in the member cluster.' })
  spec!: unknown;

  @Field(() => GraphQLISODateTime)
  reportedAt!: Date;

  @Field(() => Float)
  ageSeconds!: number;
}
