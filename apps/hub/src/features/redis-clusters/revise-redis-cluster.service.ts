/**
 * Writes the next generation of a RedisCluster: the spec as RFC 8785 text with its hash, the agent's outbox, and the
 * change that subscriptions wait for, all in the mutation's transaction.
 */
import { type Clock, MAX_OBJECT_BYTES, type Outcome, refuse, succeed } from '#domain';
import { freezeSpec } from '#protocol';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { appendChanges } from '../../platform/database/change-log.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { changeDesired } from '../agent-link/index.ts';
import type { AuditNote } from '../audit/index.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import { RedisClusterWritesRepository } from './redis-cluster-writes.repository.ts';

export interface RevisionRequest {
  readonly spec: unknown;
  readonly driftPolicy?: string;
  readonly revertFields?: readonly string[];
  readonly allowCreate?: boolean;
}

/** What a mutation leaves behind, and an idempotency key remembers. */
export interface Revised {
  readonly hubUid: string;
  readonly changedFields?: readonly string[];
}

@Injectable()
export class ReviseRedisClusterService {
  constructor(
    private readonly writes: RedisClusterWritesRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async revise(
    tx: EntityManager,
    row: RedisClusterRow,
    request: RevisionRequest,
    note: AuditNote,
  ): Promise<Outcome<Revised>> {
    const spec = freeze(request.spec);
    if (!spec.ok) return spec;
    const nowMs = this.clock.nowMs();
    const driftPolicy = request.driftPolicy ?? row.drift_policy;
    await this.writes.revise(tx, row.hub_uid, { ...request, spec: spec.value, driftPolicy, at: new Date(nowMs) });
    note.after = { generation: row.hub_generation + 1, spec: request.spec, driftPolicy };
    await changeDesired(tx, row.agent_id, row.hub_uid, 'UPSERT');
    await announce(tx, row, nowMs);
    return succeed({ hubUid: row.hub_uid });
  }
}

/** Text and hash of a spec that is small enough for the link. */
export function freeze(spec: unknown): Outcome<{ readonly text: string; readonly hash: string }> {
  const frozen = freezeSpec(spec);
  const bytes = Buffer.byteLength(frozen.text, 'utf8');
  if (bytes <= MAX_OBJECT_BYTES) return succeed(frozen);
  return refuse('OBJECT_TOO_LARGE', `The spec has ${bytes} bytes; at most ${MAX_OBJECT_BYTES}.`, ['input', 'spec']);
}

/** Wakes the subscriptions of this object after the commit. */
export const announce = (
  tx: EntityManager,
  row: Pick<RedisClusterRow, 'hub_uid' | 'project_id'>,
  nowMs: number,
  kind: 'CHANGED' | 'DELETED' = 'CHANGED',
): Promise<void> =>
  appendChanges(tx, nowMs, [{ topic: 'redisCluster', subject: row.hub_uid, projectId: row.project_id, kind }]);
