import type { Clock } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import { orderByKey, type Loaders } from '../../platform/graphql/index.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { toRedisClusterStatus } from './redis-cluster-status.mapper.ts';
import type { RedisClusterStatus } from './redis-cluster-status.model.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

@Injectable()
export class RedisClusterStatusLoader {
  constructor(
    private readonly repository: RedisClustersRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The last status of an object that the caller may see already. */
  async load(loaders: Loaders, hubUid: string): Promise<RedisClusterStatus | null> {
    const loader = loaders.get<string, RedisClusterStatus | undefined>(this, async (hubUids) => {
      const rows = await this.repository.readStatuses(hubUids);
      const nowMs = this.clock.nowMs();
      return orderByKey(hubUids, rows, (row) => row.hub_uid).map((row) => row && toRedisClusterStatus(row, nowMs));
    });
    return (await loader.load(hubUid)) ?? null;
  }
}
