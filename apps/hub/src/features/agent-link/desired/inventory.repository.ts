import { digestOf, type InventoryChunk } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { lockHead } from './delivery-book.ts';
import { holdsSession, type SessionKey } from '../sessions/session-key.ts';
import { compareObject, findUnknown, type InventoryVerdict, type WantedRow } from './inventory.rules.ts';

export interface InventoryResult {
  readonly fenced: boolean;
  /** How many objects of each verdict, and UNKNOWN: those the hub does not want. */
  readonly counts: Readonly<Record<string, number>>;
}

type Row = WantedRow & { readonly projectId: string; readonly isHeld: boolean };
type Found = readonly { readonly row: Row; readonly verdict: InventoryVerdict }[];

/** Books what an agent says it holds. Sends nothing: a snapshot follows. */
export class InventoryRepository {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** Until the next comparison may be asked for: two that cannot agree must not do nothing else. */
  async pauseBeforeNext(agentId: string, pauseMs: number, nowMs: number): Promise<number> {
    const rows = await this.#dataSource.query<{ at: Date | null }[]>(
      'SELECT inventory_at AS at FROM agent_spec_head WHERE agent_id = $1',
      [agentId],
    );
    const lastMs = rows[0]?.at?.getTime();
    // After a step back of the clock the last one lies ahead: never longer than the pause.
    return lastMs === undefined ? 0 : Math.min(pauseMs, Math.max(0, lastMs + pauseMs - nowMs));
  }

  book(session: SessionKey, objects: InventoryChunk['objects'], nowMs: number): Promise<InventoryResult> {
    return this.#dataSource.transaction(async (tx) => {
      await lockHead(tx, session.agentId);
      if (!(await holdsSession(tx, session))) return { fenced: true, counts: {} };
      const rows = await lockWanted(tx, session.agentId);
      const held = new Map(objects.map((object) => [object.hubUid, object]));
      const found = rows.map((row) => ({ row, verdict: compareObject(row, held.get(row.hubUid)) }));
      await writeVerdicts(tx, found, nowMs);
      await tx.query(
        `UPDATE agent_spec_head SET digest = $2, inventory_needed = false, inventory_at = $3 WHERE agent_id = $1`,
        [session.agentId, digestOf(found.flatMap(toDigestEntry)), new Date(nowMs)],
      );
      await appendChanges(
        tx,
        nowMs,
        rows.map((row) => ({ topic: 'redisCluster', subject: row.hubUid, projectId: row.projectId, kind: 'CHANGED' })),
      );
      return { fenced: false, counts: countVerdicts(found, findUnknown(rows, objects).length) };
    });
  }
}

async function lockWanted(tx: EntityManager, agentId: string): Promise<Row[]> {
  await tx.query('SELECT 1 FROM resource WHERE agent_id = $1 ORDER BY hub_uid FOR NO KEY UPDATE', [agentId]);
  return await tx.query<Row[]>(
    `SELECT r.hub_uid AS "hubUid", r.project_id AS "projectId", r.hub_generation AS "hubGeneration",
       r.spec_hash AS "specHash", r.deletion, r.create_allowed AS "createAllowed", d.state,
       coalesce(r.deletion = 'DELETE' AND r.deletion_held_at IS NOT NULL, false) AS "isHeld"
     FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid WHERE r.agent_id = $1 AND r.deleted_at IS NULL`,
    [agentId],
  );
}

async function writeVerdicts(tx: EntityManager, found: Found, nowMs: number): Promise<void> {
  const items = found.map(({ row, verdict }) => ({
    hub_uid: row.hubUid,
    generation: verdict.kind === 'AHEAD' ? verdict.generation : row.hubGeneration,
    applied_generation: verdict.applied?.generation ?? null,
    applied_hash: verdict.applied?.hash ?? null,
    // Held by the breaker: what it waits for stays said beside it, since nothing will be sent that could say it again.
    waits: verdict.kind === 'TO_DELETE' && row.isHeld,
    ...stateAfter(row, verdict),
  }));
  await tx.query(
    `WITH i AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(hub_uid uuid, generation bigint, applied_generation bigint,
         applied_hash text, state text, code text, retryable boolean, waits boolean)
     ), raised AS (
       UPDATE resource AS r SET hub_generation = i.generation FROM i WHERE r.hub_uid = i.hub_uid AND r.hub_generation < i.generation
     )
     UPDATE delivery AS d SET hub_generation = i.generation, applied_generation = i.applied_generation,
       applied_hash = i.applied_hash, next_attempt_at = NULL, updated_at = $2,
       state = CASE WHEN i.waits THEN d.state ELSE i.state END, code = CASE WHEN i.waits THEN d.code ELSE i.code END,
       message = CASE WHEN i.waits THEN d.message END, retryable = CASE WHEN i.waits THEN d.retryable ELSE i.retryable END
     FROM i WHERE d.hub_uid = i.hub_uid`,
    [JSON.stringify(items), new Date(nowMs)],
  );
}

function stateAfter(
  row: Row,
  verdict: InventoryVerdict,
): { state: string; code: string | null; retryable: boolean | null } {
  switch (verdict.kind) {
    case 'IN_SYNC':
      return { state: row.state === 'CONFLICT' ? 'CONFLICT' : 'APPLIED', code: null, retryable: null };
    case 'BEHIND':
    case 'TO_CREATE':
    case 'TO_DELETE':
      return { state: 'PENDING', code: null, retryable: null };
    case 'DELETED_LOCALLY':
      return { state: 'DELETED_LOCALLY', code: 'DELETED_LOCALLY', retryable: null };
    case 'AHEAD':
      return { state: 'WAITING', code: 'GENERATION_AHEAD', retryable: false };
  }
}

const toDigestEntry = ({
  row,
  verdict,
}: Found[number]): { hubUid: string; hubGeneration: number; specHash: string }[] =>
  verdict.applied
    ? [{ hubUid: row.hubUid, hubGeneration: verdict.applied.generation, specHash: verdict.applied.hash }]
    : [];

function countVerdicts(found: Found, unknown: number): Record<string, number> {
  const counts: Record<string, number> = unknown > 0 ? { UNKNOWN: unknown } : {};
  for (const { verdict } of found) counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
  return counts;
}
