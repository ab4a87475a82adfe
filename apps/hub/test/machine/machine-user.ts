/** What people ask of the hub in a state machine run, written as the mutations write it; and what its rows say. */
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { changeDesired } from '../../src/features/agent-link/index.ts';
import { RedisClusterWritesRepository } from '../../src/features/redis-clusters/redis-cluster-writes.repository.ts';
import { type Enrolled, revise, unwant, want } from '../link-fixture.ts';
import type { TestHub } from '../start-test-hub.ts';
import type { MachineLedger } from './machine-ledger.ts';

/** The agent's clock runs ahead by as much as a run lets pass. */
const APPROVED_FOR_MS = 30 * 24 * 3_600_000;

const WAITS_FOR_A_PERSON = new Set(['DELETE_BREAKER', 'DELETE_BEFORE_RESTORE', 'DELETED_OBJECT_IS_BACK']);

export interface HubRow {
  readonly hubUid: string;
  readonly name: string;
  readonly hubGeneration: number;
  readonly specHash: string;
  readonly adopt: boolean;
  readonly createAllowed: boolean;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  readonly state: string;
  readonly code: string | null;
}

export interface HeadRow {
  readonly revision: number;
  readonly ackedRevision: number;
  readonly digest: string;
  readonly inventoryNeeded: boolean;
}

export class MachineUser {
  readonly #hub: TestHub;
  readonly #enrolled: Enrolled;
  readonly #dataSource: DataSource;
  readonly #writes = new RedisClusterWritesRepository();
  #size = 0;

  constructor(hub: TestHub, enrolled: Enrolled) {
    this.#hub = hub;
    this.#enrolled = enrolled;
    this.#dataSource = hub.runtime.dataSource;
  }

  /** What the hub's tables say now. */
  async look(): Promise<{ readonly head: HeadRow; readonly rows: readonly HubRow[] }> {
    const [found] = await this.#dataSource.query<{ head: HeadRow; rows: HubRow[] }[]>(
      `SELECT jsonb_build_object('revision', h.revision, 'ackedRevision', h.acked_revision, 'digest', h.digest,
           'inventoryNeeded', h.inventory_needed) AS head,
         coalesce((SELECT jsonb_agg(jsonb_build_object('hubUid', r.hub_uid, 'name', r.name, 'hubGeneration', r.hub_generation,
           'specHash', r.spec_hash, 'adopt', r.adopt, 'createAllowed', r.create_allowed, 'deletion', r.deletion,
           'state', d.state, 'code', d.code) ORDER BY r.hub_uid)
         FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid WHERE r.agent_id = $1), '[]') AS rows
       FROM agent_spec_head AS h WHERE h.agent_id = $1`,
      [this.#enrolled.agentId],
    );
    if (!found) throw new Error('the agent of the run has no spec head');
    return found;
  }

  async rows(): Promise<readonly HubRow[]> {
    return (await this.look()).rows;
  }

  /** Tombstones that were acknowledged since the last look. */
  async noteGone(ledger: MachineLedger): Promise<void> {
    const there = new Set((await this.rows()).map((row) => row.hubUid));
    for (const object of ledger.objects.values()) {
      if (object.deletion !== undefined && !there.has(object.hubUid)) object.gone = true;
    }
  }

  async create(name: string, adopt: boolean, ledger: MachineLedger): Promise<boolean> {
    const rows = await this.rows();
    if (rows.some((row) => row.name === name && row.deletion === null)) return false;
    const { hubUid } = await want(this.#hub, this.#enrolled, name, this.#spec());
    if (adopt) await this.#dataSource.query('UPDATE resource SET adopt = true WHERE hub_uid = $1', [hubUid]);
    ledger.wish(hubUid, name, adopt);
    return true;
  }

  async update(row: HubRow): Promise<void> {
    await revise(this.#hub, this.#enrolled, row, this.#spec());
  }

  async remove(row: HubRow, deletion: 'DELETE' | 'ORPHAN', ledger: MachineLedger): Promise<void> {
    const object = ledger.objects.get(row.hubUid);
    if (object !== undefined) object.deletion = deletion;
    delete object?.mustBeSaidAgain;
    ledger.means(row.hubUid, !row.createAllowed);
    await unwant(this.#hub, this.#enrolled, row.hubUid, deletion);
  }

  async recreate(row: HubRow): Promise<void> {
    const { agentId } = this.#enrolled;
    await this.#dataSource.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);
      await tx.query(
        'UPDATE resource SET hub_generation = hub_generation + 1, create_allowed = true WHERE hub_uid = $1',
        [row.hubUid],
      );
      await changeDesired(tx, agentId, row.hubUid, 'UPSERT');
    });
  }

  /** Approves the deletes that wait for a person, or `all` that are asked for. False when there is none. */
  async approve(ledger: MachineLedger, all = false): Promise<boolean> {
    const isMeant = ({ code }: HubRow): boolean => all || WAITS_FOR_A_PERSON.has(code ?? '');
    const rows = (await this.rows()).filter((row) => row.deletion === 'DELETE' && isMeant(row));
    if (rows.length === 0) return false;
    const { agentId } = this.#enrolled;
    await this.#dataSource.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);
      const at = new Date();
      const approval = { id: randomUUID(), by: 'machine', at, expiresAt: new Date(at.getTime() + APPROVED_FOR_MS) };
      const named = rows.map((row) => ({ hub_uid: row.hubUid }));
      await this.#writes.approveDeletes(tx, approval, named as never);
      for (const { hubUid } of rows) await changeDesired(tx, agentId, hubUid, 'TOMBSTONE');
    });
    for (const { hubUid, createAllowed } of rows) ledger.approve(hubUid, !createAllowed);
    return true;
  }

  /** As the daily work does it, for an outbox of any age. */
  async trimOutbox(): Promise<void> {
    await this.#dataSource.query(
      `DELETE FROM desired_change AS c USING agent_spec_head AS h
       WHERE c.agent_id = $1 AND h.agent_id = $1 AND c.revision < h.acked_revision`,
      [this.#enrolled.agentId],
    );
  }

  /** Times that the hub keeps move back, which is the same as time that goes on. */
  async pass(ms: number): Promise<void> {
    await this.#dataSource.query(
      `WITH due AS (
         UPDATE delivery SET next_attempt_at = next_attempt_at - $2 * interval '1 millisecond'
         WHERE next_attempt_at IS NOT NULL AND hub_uid IN (SELECT hub_uid FROM resource WHERE agent_id = $1)
       ), released AS (
         UPDATE tombstone_release SET released_at = released_at - $2 * interval '1 millisecond' WHERE agent_id = $1
       )
       UPDATE agent_spec_head SET inventory_at = inventory_at - $2 * interval '1 millisecond' WHERE agent_id = $1`,
      [this.#enrolled.agentId, ms],
    );
  }

  #spec(): object {
    this.#size += 1;
    return { mode: 'Standalone', size: this.#size };
  }
}
