/**
 * Sessions in Postgres. Each accepted Hello raises session_no under the lock of the session's row; whoever holds a
 * lower number is fenced from then on (03 rule 7). Newest wins, on whichever replica it arrived.
 */
import type { DataSource } from 'typeorm';

import { untilPartitioned } from '../../../platform/database/missing-partition.ts';
import { type Acceptance, acceptHellos, type HelloEntry } from './accept-hellos.ts';
import type { AgentRow } from './agent-row.ts';
import type { SessionKey } from './session-key.ts';
import type { InventoryNote } from './inventory-recorder.ts';
import { MergedCalls } from './merged-calls.ts';
import { quarantine } from './quarantine.ts';
import type { SessionView } from './session-end.rules.ts';

/** `isWanted`: false once its sender has gone. Asked before the transaction; who goes later is disconnected after it. */
export type WaitingHello = HelloEntry & { readonly isWanted?: () => boolean };

/** Hellos of a herd arrive within this of each other; one alone waits no longer than that either. */
const MERGE_MS = 5;
/** Of Hellos at once: their signatures are checked in one go, which keeps the event loop from all else. */
const MAX_HELLOS = 100;
const MAX_ENDS = 1_000;

export class SessionRepository {
  readonly #dataSource: DataSource;
  readonly #replica: string;
  readonly #finds: MergedCalls<string, AgentRow | undefined>;
  readonly #accepts: MergedCalls<WaitingHello & { readonly nowMs: number }, Acceptance>;
  readonly #ends: MergedCalls<SessionKey & { readonly nowMs: number }, undefined>;

  constructor(dataSource: DataSource, replica: string) {
    this.#dataSource = dataSource;
    this.#replica = replica;
    this.#finds = new MergedCalls({ mergeMs: MERGE_MS, maxCalls: MAX_HELLOS, work: (ids) => this.#findAll(ids) });
    this.#accepts = new MergedCalls({ mergeMs: 0, maxCalls: MAX_HELLOS, work: (entries) => this.#acceptAll(entries) });
    this.#ends = new MergedCalls({ mergeMs: MERGE_MS, maxCalls: MAX_ENDS, work: (keys) => this.#disconnectAll(keys) });
  }

  /** Hellos that wait for the database. */
  get waitingHellos(): number {
    return this.#finds.length + this.#accepts.length;
  }

  findAgent(agentId: string): Promise<AgentRow | undefined> {
    return this.#finds.add(agentId);
  }

  accept(entry: WaitingHello, nowMs: number): Promise<Acceptance> {
    return this.#accepts.add({ ...entry, nowMs });
  }

  async #findAll(agentIds: readonly string[]): Promise<readonly (AgentRow | undefined)[]> {
    const rows = await this.#dataSource.query<AgentRow[]>(
      `SELECT id, member_cluster_id AS "memberClusterId", scope_kind AS "scopeKind", scope_namespace AS "scopeNamespace",
         public_key AS "publicKey", previous_public_key AS "previousPublicKey", fingerprint, state
       FROM agent WHERE id = ANY($1::uuid[])`,
      [[...new Set(agentIds)]],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return agentIds.map((agentId) => byId.get(agentId));
  }

  /** An agent's second Hello in one run is a take-over of the first, so it is judged after that one has its session. */
  async #acceptAll(entries: readonly (WaitingHello & { readonly nowMs: number })[]): Promise<readonly Acceptance[]> {
    const answers = new Map<HelloEntry, Acceptance>();
    for (let left = entries.filter((entry) => entry.isWanted?.() !== false); left.length > 0;) {
      const round = new Map(left.toReversed().map((entry) => [entry.agent.id, entry]));
      const nowMs = Math.max(...left.map((entry) => entry.nowMs));
      const answered = await untilPartitioned(() =>
        acceptHellos(this.#dataSource, this.#replica, [...round.values()], nowMs),
      );
      for (const [agentId, entry] of round) answers.set(entry, answered.get(agentId) ?? INCOMPLETE);
      left = left.filter((entry) => !answers.has(entry));
    }
    return entries.map((entry) => answers.get(entry) ?? GONE);
  }

  /** Hubs that work on this database now, by the names they give their connections. */
  async countOtherReplicas(): Promise<number> {
    const rows = await this.#dataSource.query<{ count: number }[]>(
      `SELECT count(DISTINCT application_name) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'atoll-hub %'
         AND application_name <> current_setting('application_name')`,
    );
    return rows[0]?.count ?? 0;
  }

  /** Another fingerprint under a known key: nobody may use the key until a person has looked. */
  async quarantine(agentId: string, reason: string, nowMs: number): Promise<void> {
    await this.#dataSource.transaction((tx) => quarantine(tx, agentId, reason, nowMs));
  }

  disconnect(session: SessionKey, nowMs: number): Promise<void> {
    return this.#ends.add({ agentId: session.agentId, sessionNo: session.sessionNo, nowMs });
  }

  async #disconnectAll(keys: readonly (SessionKey & { readonly nowMs: number })[]): Promise<readonly undefined[]> {
    const sorted = keys.toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
    await this.#dataSource.query(
      `WITH mine AS (
         SELECT s.agent_id, i.at FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) AS i(agent_id, session_no, at)
         JOIN agent_session AS s ON s.agent_id = i.agent_id AND s.session_no = i.session_no
         ORDER BY s.agent_id FOR NO KEY UPDATE OF s
       )
       UPDATE agent_session AS s SET state = 'DISCONNECTED', disconnected_at = mine.at FROM mine WHERE s.agent_id = mine.agent_id`,
      [sorted.map((one) => one.agentId), sorted.map((one) => one.sessionNo), sorted.map((one) => new Date(one.nowMs))],
    );
    return keys.map(() => undefined);
  }

  /** At start: whatever this replica's name held before it was killed is gone. */
  async disconnectAllOfReplica(nowMs: number): Promise<void> {
    await this.#dataSource.query(
      `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = $2 WHERE replica = $1 AND state = 'CONNECTED'`,
      [this.#replica, new Date(nowMs)],
    );
  }

  async setInventories(notes: readonly InventoryNote[]): Promise<void> {
    await this.#dataSource.query(
      `UPDATE agent_session AS s SET inventory = i.inventory
       FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS i(agent_id, session_no, inventory)
       WHERE s.agent_id = i.agent_id AND s.session_no = i.session_no AND s.inventory <> i.inventory`,
      [notes.map((one) => one.agentId), notes.map((one) => one.sessionNo), notes.map((one) => one.inventory)],
    );
  }

  /** Which of these sessions may no longer write (taken over, quarantined, revoked), or have something to be told. */
  async findFencedOrBehind(sessions: readonly SessionKey[]): Promise<ReadonlyMap<string, SessionView>> {
    const rows = await this.#dataSource.query<(SessionView & { agentId: string })[]>(
      `SELECT mine.agent_id AS "agentId", coalesce(a.state, 'REVOKED') AS state,
         s.session_no IS DISTINCT FROM mine.session_no AS fenced, coalesce(s.state = 'CONNECTED', false) AS taken
       FROM unnest($1::uuid[], $2::bigint[]) AS mine(agent_id, session_no)
       LEFT JOIN agent AS a ON a.id = mine.agent_id LEFT JOIN agent_session AS s ON s.agent_id = mine.agent_id
       LEFT JOIN agent_spec_head AS h ON h.agent_id = mine.agent_id
       WHERE a.state IS DISTINCT FROM 'ACTIVE' OR s.session_no IS DISTINCT FROM mine.session_no
         OR h.revision > h.acked_revision`,
      [sessions.map((one) => one.agentId), sessions.map((one) => one.sessionNo)],
    );
    return new Map(rows.map(({ agentId, ...view }) => [agentId, view]));
  }

  /**
   * `signer` is one of the two keys that are accepted now, and stays so until the new one was used, in case the answer is
   * lost; the other one goes. False when the session was taken over, or the signer is not accepted any more.
   */
  async rotateKey(agentId: string, sessionNo: number, change: { signer: Buffer; newKey: Buffer }): Promise<boolean> {
    const [, count] = await this.#dataSource.query<[unknown, number]>(
      `UPDATE agent SET previous_public_key = $3, public_key = $4
       WHERE id = $1 AND state = 'ACTIVE' AND $3 IN (public_key, previous_public_key)
         AND EXISTS (SELECT 1 FROM agent_session WHERE agent_id = $1 AND session_no = $2)`,
      [agentId, sessionNo, change.signer, change.newKey],
    );
    return count === 1;
  }

  /** `used`: the key whose use was seen. When another one has become the current key meanwhile, nothing goes. */
  async forgetPreviousKey(agentId: string, used: Buffer): Promise<void> {
    await this.#dataSource.query(
      'UPDATE agent SET previous_public_key = NULL WHERE id = $1 AND public_key = $2 AND previous_public_key IS NOT NULL',
      [agentId, used],
    );
  }
}

const INCOMPLETE: Acceptance = { accepted: false, reason: 'INCOMPLETE' };
const GONE: Acceptance = { accepted: false, reason: 'GONE' };
