import { Args, Context, ID, Resolver, Subscription } from '@nestjs/graphql';
import type { RequestContext } from '../../platform/graphql/index.ts';
import { RedisClusterChange } from './redis-cluster-change.model.ts';
import { WatchRedisClusterService } from './watch-redis-cluster.service.ts';

@Resolver()
export class RedisClusterChangesResolver {
  constructor(private readonly watch: WatchRedisClusterService) {}

  @Subscription(() => RedisClusterChange, {
    name: 'redisCluster',
    description: 'The object as it is at once, and again after each change, until it is gone or your token is revoked.',
    resolve: (change: RedisClusterChange) => change,
  })
  changes(
    @Args('id', { type: () => ID }) id: string,
    @Args('after', { type: () => String, nullable: true, description: 'Cursor of the last value you saw.' })
    after: string | undefined,
    @Context() context: RequestContext,
  ): AsyncIterable<RedisClusterChange> {
    return this.watch.watch({ id, after }, context);
  }
}
