/**
 * A person lets deletes through that the breaker holds back. One row says which objects, until when and by whom; the
 * tombstones carry it, and each agent checks it again before it goes beyond its own limit. Only deletes that somebody
 * has asked for can be approved, so an approval never deletes anything by itself; all of those listed are, or none.
 */
import { type Outcome, refuse, succeed, type UserError } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasRole, mayRead, type Caller } from '../../platform/auth/index.ts';
import { readDatabaseMs } from '../../platform/database/partitions.ts';
import { decodeGlobalId, toUserError } from '../../platform/graphql/index.ts';
import { IDS, type IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import { changeDesired } from '../agent-link/index.ts';
import { RunMutationService, type AuditNote } from '../audit/index.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import type { ApproveDeletesInput } from './redis-cluster.inputs.ts';
import type { RedisCluster } from './redis-cluster.model.ts';
import type { ApproveDeletesPayload } from './redis-cluster.payload.ts';
import { RedisClusterWritesRepository } from './redis-cluster-writes.repository.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';
import { announce } from './revise-redis-cluster.service.ts';

const MOST_AT_ONCE = 100;
const DEFAULT_SECONDS = 86_400;
const SHORTEST_SECONDS = 60;
const LONGEST_SECONDS = 7 * 86_400;

interface Approved {
  readonly approvalId: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly hubUids: readonly string[];
}

@Injectable()
export class ApproveDeletesService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly repository: RedisClustersRepository,
    private readonly writes: RedisClusterWritesRepository,
    private readonly present: PresentRedisClusterService,
    @Inject(IDS) private readonly ids: IdSource,
  ) {}

  async approve(input: ApproveDeletesInput, caller: Caller): Promise<ApproveDeletesPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'approveDeletes',
      caller,
      input,
      work: (tx, note) => this.work(tx, note, input, caller.viewer),
      mayRepeat: (tx, note, { hubUids }: Approved) =>
        this.present.mayRepeat(tx, note, { hubUids, caller, role: 'ADMIN', field: ['input', 'redisClusterIds'] }),
      show: async (tx, done: Approved) => ({ done, redisClusters: await this.showAll(tx, done.hubUids) }),
    });
    return {
      approvalId: shown?.done.approvalId ?? null,
      expiresAt: shown ? new Date(shown.done.expiresAt) : null,
      redisClusters: shown?.redisClusters ?? [],
      userErrors: errors.map(toUserError),
    };
  }

  private async work(
    tx: EntityManager,
    note: AuditNote,
    input: ApproveDeletesInput,
    viewer: Caller['viewer'],
  ): Promise<Outcome<Approved>> {
    const seconds = input.expiresInSeconds ?? DEFAULT_SECONDS;
    const refusal = refuseShape(input.redisClusterIds.length, seconds);
    if (refusal) return refusal;
    const opened = await this.openAll(tx, input.redisClusterIds, viewer);
    if (!opened.ok) return opened;
    // By the clock by which it is judged.
    const nowMs = await readDatabaseMs(tx);
    const expiresAt = new Date(nowMs + seconds * 1_000);
    const approval = { id: this.ids.newId(), by: viewer.name, at: new Date(nowMs), expiresAt };
    const uids = await this.writes.approveDeletes(tx, approval, opened.value);
    for (const row of opened.value) {
      await changeDesired(tx, row.agent_id, row.hub_uid, 'TOMBSTONE');
      await announce(tx, row, nowMs);
    }
    tell(note, opened.value, { approval: { approvalId: approval.id, expiresAt }, uids });
    const hubUids = opened.value.map((row) => row.hub_uid);
    return succeed({ approvalId: approval.id, expiresAt: expiresAt.toISOString(), hubUids });
  }

  /** Each one locked, heads before objects and both in one order for all, so that two approvals do not wait for each other. */
  private async openAll(
    tx: EntityManager,
    ids: readonly string[],
    viewer: Caller['viewer'],
  ): Promise<Outcome<readonly RedisClusterRow[]>> {
    const wanted = ids.map((id, index) => ({ hubUid: decodeGlobalId('RedisCluster', id), index }));
    wanted.sort((one, other) => ((one.hubUid ?? '') < (other.hubUid ?? '') ? -1 : 1));
    await this.repository.lockHeads(
      tx,
      wanted.flatMap(({ hubUid }) => hubUid ?? []),
    );
    const rows = new Map<string, RedisClusterRow>();
    const errors: UserError[] = [];
    for (const { hubUid, index } of wanted) {
      const row = hubUid === undefined ? undefined : await this.repository.lock(tx, hubUid);
      const checked = checkRow(row, viewer, ['input', 'redisClusterIds', String(index)]);
      if (checked.ok) rows.set(checked.value.hub_uid, checked.value);
      else errors.push(...checked.errors);
    }
    return errors.length > 0 ? { ok: false, errors } : succeed([...rows.values()]);
  }

  private async showAll(tx: EntityManager, hubUids: readonly string[]): Promise<RedisCluster[]> {
    const shown: RedisCluster[] = [];
    for (const hubUid of hubUids) {
      const one = await this.present.show(tx, hubUid);
      if (one) shown.push(one);
    }
    return shown;
  }
}

function refuseShape(count: number, seconds: number): Outcome<never> | undefined {
  if (count < 1 || count > MOST_AT_ONCE) {
    return refuse('INVALID_INPUT', `Name 1 to ${MOST_AT_ONCE} RedisClusters.`, ['input', 'redisClusterIds']);
  }
  if (seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS) return undefined;
  const message = `An approval lasts ${SHORTEST_SECONDS} to ${LONGEST_SECONDS} seconds.`;
  return refuse('INVALID_INPUT', message, ['input', 'expiresInSeconds']);
}

function checkRow(
  row: RedisClusterRow | undefined,
  viewer: Caller['viewer'],
  field: string[],
): Outcome<RedisClusterRow> {
  if (!row || !mayRead(viewer, row.project_id)) {
    return refuse('NOT_FOUND', 'There is no such RedisCluster that you may see.', field);
  }
  if (!hasRole(viewer, 'ADMIN', row.project_id)) {
    return refuse('FORBIDDEN', 'This needs the role ADMIN in its project.', field);
  }
  if (row.deletion === 'DELETE') return succeed(row);
  return refuse('NOT_BEING_DELETED', `Nobody has asked for the delete of ${row.namespace}/${row.name}.`, field);
}

interface Told {
  readonly approval: object;
  /** Kubernetes uids that each delete is about, by hubUid. */
  readonly uids: ReadonlyMap<string, readonly string[]>;
}

function tell(note: AuditNote, rows: readonly RedisClusterRow[], { approval, uids }: Told): void {
  const projects = new Set(rows.map((row) => row.project_id));
  const [project] = projects;
  if (project !== undefined && projects.size === 1) note.projectId = project;
  note.after = {
    ...approval,
    redisClusters: rows.map((row) => `${row.namespace}/${row.name} (${row.hub_uid})`),
    kubernetesUids: Object.fromEntries(uids),
  };
}
