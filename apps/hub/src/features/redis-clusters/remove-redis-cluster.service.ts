/**
 * Ends the hub's care for a RedisCluster, always by a tombstone that the agent acknowledges: absence never deletes, and
 * the hub's row goes only after the ack. Its name is free at once. Only where the agent was revoked, so that nobody is
 * left to answer, the row goes right away.
 */
import { type Clock, type Outcome, refuse, succeed, type TombstoneKind } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../platform/auth/index.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import {
  changeDesired,
  holdOn,
  isHeldByBreaker,
  isHeldForPast,
  judgeDeletes,
  readDeleteLimits,
  recallDelete,
} from '../agent-link/index.ts';
import { RunMutationService, type AuditNote } from '../audit/index.ts';
import { OpenRedisClusterService, stateOf } from './open-redis-cluster.service.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import type { DeleteRedisClusterInput, ForgetRedisClusterInput } from './redis-cluster.inputs.ts';
import type { DeleteRedisClusterPayload, ForgetRedisClusterPayload } from './redis-cluster.payload.ts';
import { driftOf, syncOf } from './redis-cluster.mapper.ts';
import { RedisClusterWritesRepository } from './redis-cluster-writes.repository.ts';
import { announce } from './revise-redis-cluster.service.ts';

interface Burial {
  readonly kind: TombstoneKind;
  /** Id of the principal who asks. */
  readonly actor: string;
}

interface Removed {
  readonly hubUid: string;
  readonly orphaned: boolean;
}

@Injectable()
export class RemoveRedisClusterService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly gate: OpenRedisClusterService,
    private readonly writes: RedisClusterWritesRepository,
    private readonly present: PresentRedisClusterService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
  ) {}

  async delete(input: DeleteRedisClusterInput, caller: Caller): Promise<DeleteRedisClusterPayload> {
    const answer = await this.mutations.run({
      action: 'deleteRedisCluster',
      caller,
      input,
      work: async (tx, note) => {
        const opened = await this.gate.open(tx, input, note, { caller, evenWhenLeaving: true });
        return opened.ok
          ? this.workDelete(tx, note, opened.value, {
              kind: input.orphan === true ? 'ORPHAN' : 'DELETE',
              actor: caller.viewer.principalId,
            })
          : opened;
      },
      mayRepeat: (tx, note, done: Removed) =>
        this.present.mayRepeat(tx, note, { hubUids: [done.hubUid], caller, role: 'OPERATOR', field: ['input', 'id'] }),
      show: (tx, done: Removed) => this.present.show(tx, done.hubUid),
    });
    return this.present.payload(answer);
  }

  async forget(input: ForgetRedisClusterInput, caller: Caller): Promise<ForgetRedisClusterPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'forgetRedisCluster',
      caller,
      input,
      work: async (tx, note) => {
        const opened = await this.gate.open(tx, input, note, { caller, evenWhenLeaving: true });
        return opened.ok ? this.workForget(tx, note, opened.value, caller.viewer.principalId) : opened;
      },
      mayRepeat: (tx, note, done: Removed) =>
        this.present.mayRepeat(tx, note, { hubUids: [done.hubUid], caller, role: 'OPERATOR', field: ['input', 'id'] }),
      show: async (tx, done: Removed) => ({
        redisCluster: await this.present.show(tx, done.hubUid),
        orphaned: done.orphaned,
      }),
    });
    const payload = this.present.payload({ shown: shown?.redisCluster ?? null, errors });
    return { ...payload, orphaned: shown?.orphaned ?? false };
  }

  private async workDelete(
    tx: EntityManager,
    note: AuditNote,
    row: RedisClusterRow,
    burial: Burial,
  ): Promise<Outcome<Removed>> {
    if (row.agent_state === 'REVOKED') {
      return refuse('AGENT_REVOKED', 'Its agent was revoked and cannot delete anything; forget it instead.', [
        'input',
        'id',
      ]);
    }
    if (readDeletionPolicy(row) === 'Deny' && burial.kind === 'DELETE') {
      const message = 'Its deletionPolicy is DENY; change that first, or delete with "orphan: true".';
      return refuse('DELETION_DENIED', message, ['input', 'id']);
    }
    return this.bury(tx, note, row, burial);
  }

  private async workForget(
    tx: EntityManager,
    note: AuditNote,
    row: RedisClusterRow,
    actor: string,
  ): Promise<Outcome<Removed>> {
    if (row.agent_state !== 'REVOKED') return this.bury(tx, note, row, { kind: 'ORPHAN', actor });
    note.after = { ...stateOf(row), deletion: 'ORPHAN' };
    await this.writes.remove(tx, row.hub_uid);
    await announce(tx, row, this.clock.nowMs(), 'DELETED');
    return succeed({ hubUid: row.hub_uid, orphaned: mayExist(row) });
  }

  /**
   * A tombstone of the same kind that waits already is enough: however often it is asked for, one item is queued. One that
   * waits because the world was another when it was asked for is asked for anew, and judged as if it were the first time. One that
   * the breaker holds waits for an ADMIN, also when it was let go in between: that the window has passed since is no approval.
   */
  private async bury(
    tx: EntityManager,
    note: AuditNote,
    row: RedisClusterRow,
    { kind, actor }: Burial,
  ): Promise<Outcome<Removed>> {
    note.after = { ...stateOf(row), deletion: kind };
    if (row.deletion !== kind || isHeldForPast(row.deletion_held_for)) {
      const nowMs = this.clock.nowMs();
      const uids = await this.writes.setDeletion(tx, row.hub_uid, { deletion: kind, actor, at: new Date(nowMs) });
      await changeDesired(tx, row.agent_id, row.hub_uid, 'TOMBSTONE');
      if (row.deletion === 'DELETE') await recallDelete(tx, row.agent_id, row.hub_uid);
      if (kind === 'DELETE') {
        note.after = { ...stateOf(row), deletion: kind, kubernetesUids: uids };
        await this.judge(tx, row, nowMs);
      }
      await announce(tx, row, nowMs);
    }
    return succeed({ hubUid: row.hub_uid, orphaned: kind === 'ORPHAN' && mayExist(row) });
  }

  private async judge(tx: EntityManager, row: RedisClusterRow, nowMs: number): Promise<void> {
    if (isHeldByBreaker(row.deletion_held_for)) return holdOn(tx, row.hub_uid, nowMs);
    const limits = await readDeleteLimits(tx, this.runtime.config.deleteLimits);
    await judgeDeletes(tx, { agentId: row.agent_id, hubUids: [row.hub_uid] }, limits);
  }
}

const mayExist = (row: RedisClusterRow): boolean =>
  syncOf({ ...row, deletion: null }, driftOf(row)) !== 'DELETED_LOCALLY';

const readDeletionPolicy = (row: RedisClusterRow): string | undefined =>
  (JSON.parse(row.spec) as { deletionPolicy?: string }).deletionPolicy;
