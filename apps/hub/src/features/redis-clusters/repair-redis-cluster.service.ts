/** Answers to what people did in the member cluster: accept an edit, take it back, or create again what was deleted. */
import { type Outcome, type RedisClusterSpec, refuse } from '#domain';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../platform/auth/index.ts';
import { RunMutationService, type AuditNote } from '../audit/index.ts';
import { acceptFields, type Drift } from './drift.rules.ts';
import { OpenRedisClusterService } from './open-redis-cluster.service.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import type {
  AcceptDriftInput,
  RecreateRedisClusterInput,
  RedisClusterTargetInput,
  RevertDriftInput,
} from './redis-cluster.inputs.ts';
import { driftOf, readSpec, syncOf } from './redis-cluster.mapper.ts';
import type { AcceptDriftPayload, RecreateRedisClusterPayload, RevertDriftPayload } from './redis-cluster.payload.ts';
import { selectDrift } from './select-drift.rules.ts';
import { type Revised, ReviseRedisClusterService } from './revise-redis-cluster.service.ts';
import { checkSpec } from './spec-input.rules.ts';

type Repair = (tx: EntityManager, row: RedisClusterRow, note: AuditNote) => Promise<Outcome<Revised>>;

@Injectable()
export class RepairRedisClusterService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly gate: OpenRedisClusterService,
    private readonly revision: ReviseRedisClusterService,
    private readonly present: PresentRedisClusterService,
  ) {}

  acceptDrift(input: AcceptDriftInput, caller: Caller): Promise<AcceptDriftPayload> {
    return this.run('acceptDrift', input, caller, async (tx, row, note) => {
      const drift = selectDrift(driftOf(row), input.paths ?? undefined);
      return drift.ok ? this.takeLiveValues(tx, row, note, drift.value) : drift;
    });
  }

  revertDrift(input: RevertDriftInput, caller: Caller): Promise<RevertDriftPayload> {
    return this.run('revertDrift', input, caller, async (tx, row, note) => {
      const drift = selectDrift(driftOf(row), input.paths ?? undefined);
      if (!drift.ok) return drift;
      const revertFields = drift.value.map((each) => each.path);
      return this.revision.revise(tx, row, { spec: readSpec(row), revertFields }, note);
    });
  }

  recreate(input: RecreateRedisClusterInput, caller: Caller): Promise<RecreateRedisClusterPayload> {
    return this.run('recreateRedisCluster', input, caller, async (tx, row, note) => {
      if (syncOf(row, driftOf(row)) !== 'DELETED_LOCALLY') {
        return refuse('NOT_DELETED_LOCALLY', 'Nobody deleted this object in the member cluster.', ['input', 'id']);
      }
      return this.revision.revise(tx, row, { spec: readSpec(row), allowCreate: true }, note);
    });
  }

  private async takeLiveValues(
    tx: EntityManager,
    row: RedisClusterRow,
    note: AuditNote,
    drift: readonly Drift[],
  ): Promise<Outcome<Revised>> {
    const spec = acceptFields(readSpec(row), drift);
    const checked = checkSpec(spec as unknown as RedisClusterSpec);
    if (!checked.ok) {
      const reasons = checked.errors.map((error) => error.message).join(' ');
      return refuse('SPEC_REJECTED', `The live values do not make a valid spec: ${reasons}`, ['input', 'paths']);
    }
    return this.revision.revise(tx, row, { spec }, note);
  }

  private async run(
    action: string,
    input: RedisClusterTargetInput,
    caller: Caller,
    repair: Repair,
  ): Promise<RecreateRedisClusterPayload> {
    const answer = await this.mutations.run({
      action,
      caller,
      input,
      work: async (tx, note) => {
        const opened = await this.gate.open(tx, input, note, { caller });
        return opened.ok ? repair(tx, opened.value, note) : opened;
      },
      mayRepeat: (tx, note, done: Revised) =>
        this.present.mayRepeat(tx, note, { hubUids: [done.hubUid], caller, role: 'OPERATOR', field: ['input', 'id'] }),
      show: (tx, done: Revised) => this.present.show(tx, done.hubUid),
    });
    return this.present.payload(answer);
  }
}
