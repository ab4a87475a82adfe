import { Field, GraphQLISODateTime, ID, ObjectType } from '@nestjs/graphql';
import { UserError } from '../../platform/graphql/index.ts';
import { RedisCluster } from './redis-cluster.model.ts';

@ObjectType({ isAbstract: true })
export abstract class RedisClusterPayload {
  @Field(() => RedisCluster, {
    nullable: true,
    description: 'The object after the mutation; null when it was refused.',
  })
  redisCluster!: RedisCluster | null;

  @Field(() => [UserError])
  userErrors!: UserError[];
}

@ObjectType()
export class CreateRedisClusterPayload extends RedisClusterPayload {}

@ObjectType()
export class UpdateRedisClusterPayload extends RedisClusterPayload {
  @Field(() => [String], { description: 'Fields that the update changes, for instance "spec.size".' })
  changedFields!: string[];
}

@ObjectType()
export class DeleteRedisClusterPayload extends RedisClusterPayload {}

@ObjectType()
export class AcceptDriftPayload extends RedisClusterPayload {}

@ObjectType()
export class RevertDriftPayload extends RedisClusterPayload {}

@ObjectType()
export class RecreateRedisClusterPayload extends RedisClusterPayload {}

@ObjectType()
export class ForgetRedisClusterPayload extends RedisClusterPayload {
  @Field(() => Boolean, {
    description: 'The object may still exist in the member cluster; it is left there, unmanaged.',
  })
  orphaned!: boolean;
}

@ObjectType()
export class ApproveDeletesPayload {
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the approval, which the tombstones carry; null when it was refused.',
  })
  approvalId!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'An agent takes none of these deletes after it.' })
  expiresAt!: Date | null;

  @Field(() => [RedisCluster], { description: 'The objects as the approval leaves them.' })
  redisClusters!: RedisCluster[];

  @Field(() => [UserError])
  userErrors!: UserError[];
}
