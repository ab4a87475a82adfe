import { type Outcome, refuse, succeed } from '#domain';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasRole, hasRoleAnywhere, mayRead, type Caller, type Role } from '../../platform/auth/index.ts';
import { encodeGlobalId, toUserError, type UserError } from '../../platform/graphql/index.ts';
import type { Answer, AuditNote } from '../audit/index.ts';
import { toRedisCluster } from './redis-cluster.mapper.ts';
import type { RedisCluster } from './redis-cluster.model.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

export interface Repeat {
  readonly hubUids: readonly string[];
  readonly caller: Caller;
  /** Of the mutation itself. */
  readonly role: Role;
  readonly field: string[];
}

/** How mutations show what they did, and whether they may show it again. */
@Injectable()
export class PresentRedisClusterService {
  constructor(private readonly repository: RedisClustersRepository) {}

  /** The object as this transaction sees it; null when it is gone. */
  async show(tx: EntityManager, hubUid: string): Promise<RedisCluster | null> {
    const row = await this.repository.find(hubUid, tx);
    return row ? toRedisCluster(row) : null;
  }

  /** The rights that the mutation asked for, as they are now. */
  async mayRepeat(
    tx: EntityManager,
    note: AuditNote,
    { hubUids, caller: { viewer }, role, field }: Repeat,
  ): Promise<Outcome<void>> {
    for (const hubUid of hubUids) {
      const projectId = (await this.repository.find(hubUid, tx))?.project_id;
      if (hubUids.length === 1) note.target = encodeGlobalId('RedisCluster', hubUid);
      if (hubUids.length === 1 && projectId !== undefined) note.projectId = projectId;
      const isAllowed = projectId === undefined ? hasRoleAnywhere(viewer, role) : hasRole(viewer, role, projectId);
      if (isAllowed) continue;
      return projectId !== undefined && mayRead(viewer, projectId)
        ? refuse('FORBIDDEN', `This needs the role ${role} in its project.`, field)
        : refuse('NOT_FOUND', 'There is no such RedisCluster that you may see.', field);
    }
    return succeed(undefined);
  }

  payload(answer: Answer<RedisCluster | null>): { redisCluster: RedisCluster | null; userErrors: UserError[] } {
    return { redisCluster: answer.shown ?? null, userErrors: answer.errors.map(toUserError) };
  }
}
