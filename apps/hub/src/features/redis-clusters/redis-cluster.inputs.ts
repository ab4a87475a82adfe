import { Field, ID, InputType, Int } from '@nestjs/graphql';
import { DriftPolicies } from './redis-cluster.enums.ts';
import { RedisClusterSpecInput } from './redis-cluster-spec.input.ts';

type DriftPolicyValue = (typeof DriftPolicies)[keyof typeof DriftPolicies];

const EXPECTED_GENERATION =
  'The generation you saw. Another one at the hub is GENERATION_CONFLICT. Explicit null forces; leaving it out is refused.';
const IDEMPOTENCY_KEY = 'The same key with the same input within 24 hours gives the first answer again.';
const DRY_RUN = 'Check everything, change nothing.';

@InputType()
export class CreateRedisClusterInput {
  @Field(() => ID)
  memberClusterId!: string;

  @Field(() => String)
  namespace!: string;

  @Field(() => String, { description: 'DNS label of at most 40 characters.' })
  name!: string;

  @Field(() => RedisClusterSpecInput)
  spec!: RedisClusterSpecInput;

  @Field(() => String, { nullable: true, description: 'Name or id of the project. Default: "default".' })
  project?: string | null;

  @Field(() => DriftPolicies, { nullable: true, description: 'Default REPORT.' })
  driftPolicy?: DriftPolicyValue | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Take over an object of that name that no hub manages.',
  })
  adopt?: boolean | null;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: DRY_RUN })
  dryRun?: boolean | null;
}

/** What every change of an existing RedisCluster says: which one, which generation was seen, and how to repeat it safely. */
@InputType({ isAbstract: true })
export abstract class RedisClusterTargetInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Int, { nullable: true, description: EXPECTED_GENERATION })
  expectedGeneration?: number | null;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: DRY_RUN })
  dryRun?: boolean | null;
}

@InputType()
export class UpdateRedisClusterInput extends RedisClusterTargetInput {
  @Field(() => RedisClusterSpecInput, { description: 'The whole spec: what is left out goes back to its default.' })
  spec!: RedisClusterSpecInput;

  @Field(() => DriftPolicies, { nullable: true, description: 'Left out: unchanged.' })
  driftPolicy?: DriftPolicyValue | null;
}

@InputType()
export class DeleteRedisClusterInput extends RedisClusterTargetInput {
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Leave the object in the member cluster, unmanaged.',
  })
  orphan?: boolean | null;
}

@InputType()
export class AcceptDriftInput extends RedisClusterTargetInput {
  @Field(() => [String], { nullable: true, description: 'Paths of the drifted fields to accept. Default: all.' })
  paths?: string[] | null;
}

@InputType()
export class RevertDriftInput extends RedisClusterTargetInput {
  @Field(() => [String], { nullable: true, description: 'Paths of the drifted fields to take back. Default: all.' })
  paths?: string[] | null;
}

@InputType()
export class RecreateRedisClusterInput extends RedisClusterTargetInput {}

@InputType()
export class ForgetRedisClusterInput extends RedisClusterTargetInput {}

@InputType()
export class ApproveDeletesInput {
  @Field(() => [ID], { description: 'RedisClusters whose delete is on its way; at most 100.' })
  redisClusterIds!: string[];

  @Field(() => Int, {
    nullable: true,
    description:
      'How long the agents may take the deletes, in seconds: 60 to 604800. Default 86400. An agent that is away longer needs a new approval.',
  })
  expiresInSeconds?: number | null;

  @Field(() => String, { nullable: true, description: IDEMPOTENCY_KEY })
  idempotencyKey?: string | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: DRY_RUN })
  dryRun?: boolean | null;
}
