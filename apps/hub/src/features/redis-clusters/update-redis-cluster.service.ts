import { type Outcome, type RedisClusterSpec, succeed } from '#domain';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../platform/auth/index.ts';
import { AuditRepository, RunMutationService, type AuditNote } from '../audit/index.ts';
import { isState, listStateChanges, OpenRedisClusterService, stateOf } from './open-redis-cluster.service.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import type { UpdateRedisClusterInput } from './redis-cluster.inputs.ts';
import type { RedisCluster } from './redis-cluster.model.ts';
import type { UpdateRedisClusterPayload } from './redis-cluster.payload.ts';
import { type Revised, ReviseRedisClusterService } from './revise-redis-cluster.service.ts';
import { checkSpecChange, findWrittenGeneration } from './spec-change.rules.ts';
import { readSpecInput } from './spec-input.rules.ts';

interface Shown {
  readonly redisCluster: RedisCluster | null;
  readonly changedFields: readonly string[];
}

@Injectable()
export class UpdateRedisClusterService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly gate: OpenRedisClusterService,
    private readonly revision: ReviseRedisClusterService,
    private readonly present: PresentRedisClusterService,
    private readonly audit: AuditRepository,
  ) {}

  async update(input: UpdateRedisClusterInput, caller: Caller): Promise<UpdateRedisClusterPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'updateRedisCluster',
      caller,
      input,
      work: (tx, note) => this.work(tx, note, input, caller),
      mayRepeat: (tx, note, done: Revised) =>
        this.present.mayRepeat(tx, note, { hubUids: [done.hubUid], caller, role: 'OPERATOR', field: ['input', 'id'] }),
      show: async (tx, done: Revised): Promise<Shown> => ({
        redisCluster: await this.present.show(tx, done.hubUid),
        changedFields: done.changedFields ?? [],
      }),
    });
    const payload = this.present.payload({ shown: shown?.redisCluster ?? null, errors });
    return { ...payload, changedFields: [...(shown?.changedFields ?? [])] };
  }

  /** An update that changes nothing makes no generation, unless the last one was refused and is to be tried again. */
  private async work(
    tx: EntityManager,
    note: AuditNote,
    input: UpdateRedisClusterInput,
    caller: Caller,
  ): Promise<Outcome<Revised>> {
    const opened = await this.gate.open(tx, input, note, { caller });
    if (!opened.ok) return opened;
    const row = opened.value;
    const written = await this.readWrittenSpec(tx, input.id, row);
    const spec = readSpecInput(input.spec, written ?? (stateOf(row).spec as RedisClusterSpec));
    if (!spec.ok) return spec;
    const allowed = written === undefined ? succeed(undefined) : checkSpecChange(written, spec.value);
    if (!allowed.ok) return allowed;
    const driftPolicy = input.driftPolicy ?? row.drift_policy;
    const wanted = { generation: row.hub_generation + 1, spec: spec.value, driftPolicy };
    const changedFields = listStateChanges(stateOf(row), wanted);
    if (changedFields.length === 0 && row.delivery_state !== 'REJECTED') {
      note.after = stateOf(row);
      return succeed({ hubUid: row.hub_uid, changedFields });
    }
    const revised = await this.revision.revise(tx, row, wanted, note);
    return revised.ok ? succeed({ ...revised.value, changedFields }) : revised;
  }

  /** The spec that lies in the member cluster; undefined when there is none, or when audit has forgotten it. */
  private async readWrittenSpec(
    tx: EntityManager,
    id: string,
    row: RedisClusterRow,
  ): Promise<RedisClusterSpec | undefined> {
    const generation = findWrittenGeneration(row);
    if (generation === undefined) return undefined;
    const state = generation === row.hub_generation ? stateOf(row) : await this.audit.findState(tx, id, generation);
    return isState(state) ? (state.spec as RedisClusterSpec) : undefined;
  }
}
