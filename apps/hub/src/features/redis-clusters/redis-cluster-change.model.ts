import { Field, ObjectType } from '@nestjs/graphql';
import { ChangeKinds, type ChangeKind } from './redis-cluster.enums.ts';
import { RedisCluster } from './redis-cluster.model.ts';

@ObjectType({ description: 'One value of the subscription.' })
export class RedisClusterChange {
  @Field(() => String, { description: 'Hand it back as "after" to go on from here.' })
  cursor!: string;

  @Field(() => ChangeKinds)
  kind!: ChangeKind;

  @Field(() => RedisCluster, { nullable: true, description: 'The object as it is now; null when it is gone.' })
  redisCluster!: RedisCluster | null;
}
