/**
 * Counts member clusters together, and sets those apart whose counts cannot be written: each keeps the counts of before and
 * is tried again after growing pauses. It is in the database who they are, since their marks are taken and the claim may be
 * another replica's the next time. Without it one member cluster freezes the counts of the whole fleet.
 */
import type { EntityManager } from 'typeorm';

import { inHalves } from '../../../platform/database/in-halves.ts';
import { readSqlState } from '../../../platform/database/sql-state.ts';

/** From one second, doubled with each try. */
const LONGEST_PAUSE_S = 300;

export interface Apart {
  readonly memberClusterId: string;
  /** In a row; 1: since now. */
  readonly tries: number;
  readonly error: unknown;
}

export interface Counted {
  /** Rows of counts that changed. */
  readonly changed: number;
  readonly apart: readonly Apart[];
}

/** `count`: all of these or none; returns how many rows changed. */
export async function countApart(
  tx: EntityManager,
  memberClusterIds: readonly string[],
  count: (part: EntityManager, some: readonly string[]) => Promise<number>,
): Promise<Counted> {
  if (memberClusterIds.length === 0) return { changed: 0, apart: [] };
  let changed = 0;
  const failed = await inHalves(memberClusterIds, async (some) => {
    changed += await tx.transaction((part) => count(part, some));
  });
  const errors = new Map(failed.map(({ entry, error }) => [entry, error]));
  const rows = await setApart(tx, errors);
  await tx.query('DELETE FROM rollup_apart WHERE member_cluster_id = ANY($1::uuid[])', [
    memberClusterIds.filter((id) => !errors.has(id)),
  ]);
  return { changed, apart: rows.map((row) => ({ ...row, error: errors.get(row.memberClusterId) })) };
}

async function setApart(
  tx: EntityManager,
  errors: ReadonlyMap<string, unknown>,
): Promise<readonly Omit<Apart, 'error'>[]> {
  if (errors.size === 0) return [];
  return tx.query<Omit<Apart, 'error'>[]>(
    `WITH apart AS (
       INSERT INTO rollup_apart AS a (member_cluster_id, since, next_at, tries, sqlstate)
       SELECT id, now(), now() + interval '1 second', 1, sqlstate FROM unnest($1::uuid[], $2::text[]) AS i(id, sqlstate)
       ON CONFLICT (member_cluster_id) DO UPDATE SET tries = a.tries + 1, sqlstate = excluded.sqlstate,
         next_at = now() + least(power(2, least(a.tries, 20)), ${LONGEST_PAUSE_S}) * interval '1 second'
       RETURNING member_cluster_id AS "memberClusterId", tries
     ) SELECT * FROM apart`,
    [[...errors.keys()], [...errors.values()].map(readSqlState)],
  );
}
