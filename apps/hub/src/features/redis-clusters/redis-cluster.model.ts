import type { DeliveryState } from '#domain';
import { Field, GraphQLISODateTime, ID, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf, GraphQLJson, GraphQLLong, Node, type Loaders } from '../../platform/graphql/index.ts';
import { DeliveryStates, DriftPolicies, SyncStates, type SyncState } from './redis-cluster.enums.ts';

@ObjectType({ description: 'A spec field that another field manager owns with another value than the hub wants.' })
export class DriftedField {
  @Field(() => String, { description: 'For instance "spec.size".' })
  path!: string;

  @Field(() => String, { description: 'Who changed it, by the name of the field manager.' })
  manager!: string;

  @Field(() => GraphQLJson, { nullable: true, description: 'Null: removed.' })
  liveValue!: unknown;

  @Field(() => GraphQLJson, { nullable: true, description: 'Null: the hub wants the default.' })
  wantedValue!: unknown;
}

@ObjectType({ description: 'Where the current generation is on its way to the member cluster.' })
export class Delivery {
  @Field(() => DeliveryStates)
  state!: DeliveryState;

  @Field(() => SyncStates)
  sync!: SyncState;

  @Field(() => String, {
    nullable: true,
    description: 'Stable code of a refusal; an ErrorCode, or a newer one of the agent.',
  })
  code!: string | null;

  @Field(() => String, { nullable: true })
  message!: string | null;

  @Field(() => GraphQLLong, { description: 'The generation that the state speaks of.' })
  generation!: number;

  @Field(() => GraphQLLong, { nullable: true, description: 'The last generation that was applied.' })
  appliedGeneration!: number | null;

  @Field(() => Int)
  attempts!: number;

  @Field(() => [DriftedField])
  drift!: DriftedField[];
}

@ObjectType({ implements: () => [Node], description: 'One Redis data set in one member cluster.' })
export class RedisCluster implements Node {
  @Field(() => ID)
  id!: string;

  @Field(() => ID, { description: "The hub's identity of the object, as in its annotation." })
  hubUid!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String)
  namespace!: string;

  @Field(() => GraphQLLong, { description: "The hub's generation of the spec." })
  generation!: number;

  @Field(() => GraphQLJson, { description: 'The spec as the hub sends it.' })
  spec!: unknown;

  @Field(() => DriftPolicies)
  driftPolicy!: string;

  @Field(() => Delivery)
  delivery!: Delivery;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime)
  updatedAt!: Date;

  @Field(() => Boolean, { description: 'A tombstone is on its way; the row goes when the agent has acknowledged it.' })
  deleting!: boolean;

  /** Keys for the field resolvers; not in the schema. */
  memberClusterId!: string;
  projectId!: string;
}

@ObjectType()
export class RedisClusterConnection extends connectionOf(RedisCluster, 'RedisCluster') {
  /** What totalCount counts; not in the schema. */
  countOf!: (loaders: Loaders) => Promise<number>;
}
