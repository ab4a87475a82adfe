import { Field, ID, InputType } from '@nestjs/graphql';
import { GraphQLJson } from '../../platform/graphql/index.ts';
import { ScopeKinds, type ScopeKind } from './member-cluster.enums.ts';

const IDEMPOTENCY_KEY = 'The same key with the same input within 24 hours gives the first answer again.';

@InputType()
export class EnrolMemberClusterInput {
  @Field(() => String, {
    description: 'DNS label. An agent of scope NAMESPACE enrols under a name of its own and is joined at approval.',
  })
  name!: string;

  @Field(() => GraphQLJson, { nullable: true, description: 'Text by name, for instance {"tier": "production"}.' })
  labels?: unknown;

  @Field(() => String, { nullable: true })
  region?: string | null;

  @Field(() => ScopeKinds, { nullable: true, defaultValue: ScopeKinds.CLUSTER })
  scope?: ScopeKind | null;

  @Field(() => String, {
    nullable: true,
    description: 'Needed for scope NAMESPACE: the namespace that the agent owns.',
  })
  namespace?: string | null;

  @Field(() => String, {
    nullable: true,
    description: "Address (host:port) that the agent dials; one of the hub's. Default: its first.",
  })
  hubAddress?: string | null;

  @Field(() => String, {
    nullable: true,
    description: `${IDEMPOTENCY_KEY} While no agent came, a repeat issues a new token.`,
  })
  idempotencyKey?: string | null;
}

@InputType()
export class ApproveAgentInput {
  @Field(() => ID)
  agentId!: string;

  @Field(() => ID, {
    nullable: true,
    description:
      'Join the agent to this member cluster: for agents of scope NAMESPACE, and to replace one that was revoked. The member cluster it was enrolled under is then forgotten.',
  })
  memberClusterId?: string | null;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;
}

@InputType()
export class ReplaceMemberClusterInput {
  @Field(() => ID, { description: 'The member cluster that was rebuilt, restored, or whose agent was reinstalled.' })
  memberClusterId!: string;

  @Field(() => ID, {
    description:
      'An agent of the same scope that has enrolled from it, under a name of its own, and is PENDING_APPROVAL.',
  })
  agentId!: string;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;
}

@InputType()
export class RevokeAgentInput {
  @Field(() => ID)
  agentId!: string;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;
}

@InputType()
export class ForgetMemberClusterInput {
  @Field(() => ID)
  memberClusterId!: string;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;
}
