/**
 * Takes deletes of one agent through the breaker and books the verdict: let through for good, or held until a person
 * approves them. Every delete is judged once, in the mutation that asks for it, so that an agent that is away
 * does not stretch many deletes over many windows; what comes without a verdict (a hub of before, a bug) is judged
 * before it is sent. What is held already is not judged again: another replica, with other settings or a read of before,
 * would let it through. Rows are locked before the breaker, as a mutation does it: the other order would deadlock with it.
 */
import type { EntityManager } from 'typeorm';

import { LOCK } from '../../../platform/database/advisory-locks.ts';
import { readDatabaseMs } from '../../../platform/database/partitions.ts';
import {
  APPROVAL_IS_OVER,
  APPROVAL_IS_OVER_AND_OBJECT_BACK,
  BREAKER_WINDOW_MS,
  type DeleteLimits,
  explainHold,
  type HoldReason,
  judgeDelete,
  type PassedDeletes,
  STILL_HELD,
} from './delete-breaker.rules.ts';

export interface DeletesOfAgent {
  readonly agentId: string;
  readonly hubUids: readonly string[];
}

interface Judge {
  readonly limits: DeleteLimits;
  /** By the clock of the database: by a replica's, which may step, earlier deletes would count no more. */
  readonly nowMs: number;
}

interface DoomedRow {
  readonly hubUid: string;
  readonly actor: string | null;
  /** A person approved it; OVER: the approval has expired. */
  readonly approval: 'GOOD' | 'OVER' | null;
  /** The object is known by a uid that its delete does not name. */
  readonly isAnother: boolean;
}

/**
 * Makes every pending delete of an agent wait for a person, approved or not: what it was about may be another object by now.
 * Returns their hubUids. The spec head must be locked, or no mutation be able to come between.
 */
export async function holdDeletes(
  tx: Pick<EntityManager, 'query'>,
  agentId: string,
  { code, message }: HoldReason,
): Promise<readonly string[]> {
  const rows = await tx.query<{ held: string[] }[]>('SELECT hold_deletes($1, $2, $3)::text[] AS held', [
    agentId,
    code,
    message,
  ]);
  return rows[0]?.held ?? [];
}

/** Returns the hubUids that may be sent. */
export async function judgeDeletes(
  tx: EntityManager,
  { agentId, hubUids }: DeletesOfAgent,
  limits: DeleteLimits,
): Promise<ReadonlySet<string>> {
  const judge = { limits, nowMs: await readDatabaseMs(tx) };
  const rows = await lockDoomed(tx, { agentId, hubUids }, judge.nowMs);
  await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK.deleteBreaker]);
  const passed = new Set<string>();
  for (const row of rows) {
    const hold = await findHold(tx, agentId, row, judge);
    if (hold !== undefined) {
      await holdBack(tx, row, hold, judge.nowMs);
      continue;
    }
    await letThrough(tx, agentId, row, judge.nowMs);
    passed.add(row.hubUid);
  }
  return passed;
}

/** Of a delete whose row is held by the breaker already: what is told beside it says so. The row must be locked. */
export const holdOn = (tx: EntityManager, hubUid: string, nowMs: number): Promise<void> =>
  tellHold(tx, hubUid, STILL_HELD, nowMs);

function lockDoomed(tx: EntityManager, { agentId, hubUids }: DeletesOfAgent, nowMs: number): Promise<DoomedRow[]> {
  return tx.query(
    `SELECT r.hub_uid AS "hubUid", r.deletion_actor AS actor,
       (SELECT CASE WHEN a.expires_at > $3 THEN 'GOOD' ELSE 'OVER' END FROM tombstone_release AS t
          JOIN delete_approval AS a ON a.id = t.approval_id WHERE t.hub_uid = r.hub_uid) AS approval,
       coalesce(NOT known_uids(r) <@ r.deletion_uids, false) AS "isAnother"
     FROM resource AS r WHERE r.agent_id = $1 AND r.hub_uid = ANY($2::uuid[]) AND r.deletion = 'DELETE'
       AND r.deletion_held_at IS NULL
     ORDER BY r.hub_uid FOR NO KEY UPDATE OF r`,
    [agentId, hubUids, new Date(nowMs)],
  );
}

async function findHold(
  tx: EntityManager,
  agentId: string,
  { hubUid, actor, approval, isAnother }: DoomedRow,
  { limits, nowMs }: Judge,
): Promise<string | undefined> {
  if (approval === 'GOOD') return undefined;
  if (approval === 'OVER') return isAnother ? APPROVAL_IS_OVER_AND_OBJECT_BACK : APPROVAL_IS_OVER;
  const rows = await tx.query<PassedDeletes[]>(
    // An object whose release was taken back is counted once, and not against itself.
    `SELECT count(DISTINCT object) FILTER (WHERE agent_id = $2)::int AS "byAgent",
       count(DISTINCT object) FILTER (WHERE actor = $3)::int AS "byActor", count(DISTINCT object)::int AS "inFleet"
     FROM (SELECT coalesce(void_of, hub_uid) AS object, agent_id, actor FROM tombstone_release
       WHERE released_at > $1 AND approval_id IS NULL AND void_of IS DISTINCT FROM $4) AS passed`,
    [new Date(nowMs - BREAKER_WINDOW_MS), agentId, actor, hubUid],
  );
  const verdict = judgeDelete(rows[0] ?? { byAgent: 0, byActor: 0, inFleet: 0 }, limits);
  return verdict === 'PASS' ? undefined : explainHold(verdict, limits);
}

const letThrough = (
  tx: EntityManager,
  agentId: string,
  { hubUid, actor }: DoomedRow,
  nowMs: number,
): Promise<unknown> =>
  tx.query(
    `INSERT INTO tombstone_release (hub_uid, agent_id, released_at, actor) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [hubUid, agentId, new Date(nowMs), actor],
  );

async function holdBack(tx: EntityManager, { hubUid }: DoomedRow, message: string, nowMs: number): Promise<void> {
  await tx.query('DELETE FROM tombstone_release WHERE hub_uid = $1', [hubUid]);
  await tx.query(`UPDATE resource SET deletion_held_at = $2, deletion_held_for = 'DELETE_BREAKER' WHERE hub_uid = $1`, [
    hubUid,
    new Date(nowMs),
  ]);
  await tellHold(tx, hubUid, message, nowMs);
}

async function tellHold(tx: EntityManager, hubUid: string, message: string, nowMs: number): Promise<void> {
  await tx.query(
    `UPDATE delivery SET state = 'WAITING', code = 'DELETE_BREAKER', message = $2, retryable = false,
       next_attempt_at = NULL, updated_at = $3 WHERE hub_uid = $1`,
    [hubUid, message, new Date(nowMs)],
  );
}
