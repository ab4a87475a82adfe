import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toUserError, type UserError } from '../../platform/graphql/index.ts';
import type { Answer } from '../audit/index.ts';
import { toRedisCluster } from './redis-cluster.mapper.ts';
import type { RedisCluster } from './redis-cluster.model.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

/** How mutations show what they did. */
@Injectable()
export class PresentRedisClusterService {
  constructor(private readonly repository: RedisClustersRepository) {}

  /** The object as this transaction sees it; null when it is gone. */
  async show(tx: EntityManager, hubUid: string): Promise<RedisCluster | null> {
    const row = await this.repository.find(hubUid, tx);
    return row ? toRedisCluster(row) : null;
  }

  payload(answer: Answer<RedisCluster | null>): { redisCluster: RedisCluster | null; userErrors: UserError[] } {
    return { redisCluster: answer.shown ?? null, userErrors: answer.errors.map(toUserError) };
  }
}
