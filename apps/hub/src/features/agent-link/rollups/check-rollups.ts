/**
 * Proves the folded counts right, a slice of member clusters at a time: counts them anew and compares. A member cluster
 * that is marked at that moment, or set apart, is not judged: its fold is still to come. A difference is a fault of ours, so it is told
 * as one, and repaired in the same transaction.
 */
import type { EntityManager } from 'typeorm';

import { COUNT_MEMBER_CLUSTERS, COUNTS, KEYS, list, sumByRegion } from './count-health.sql.ts';
import { type Apart, countApart } from './count-apart.ts';
import { countAgain } from './fold-fleet.ts';

const COLUMNS = `${list(KEYS)}, region, ${list(COUNTS)}`;
const FIND_WRONG = `
WITH present AS MATERIALIZED (SELECT ${COLUMNS} FROM (${COUNT_MEMBER_CLUSTERS}) AS c),
  folded AS MATERIALIZED (SELECT ${COLUMNS} FROM member_cluster_rollup WHERE member_cluster_id = ANY($1::uuid[])),
  wrong AS ((TABLE present EXCEPT TABLE folded) UNION ALL (TABLE folded EXCEPT TABLE present))
SELECT DISTINCT wrong.member_cluster_id AS id FROM wrong WHERE NOT EXISTS (
  SELECT 1 FROM rollup_mark AS k LEFT JOIN agent AS a ON a.id = k.agent_id
  WHERE wrong.member_cluster_id IN (k.member_cluster_id, a.member_cluster_id))
  AND NOT EXISTS (SELECT 1 FROM rollup_apart AS p WHERE p.member_cluster_id = wrong.member_cluster_id)`;

/** Ids of folded counts as well: a member cluster that is gone for good must lose its counts. */
const SLICE = `
(SELECT id FROM member_cluster WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2)
UNION (SELECT DISTINCT member_cluster_id FROM member_cluster_rollup WHERE $1::uuid IS NULL OR member_cluster_id > $1
  ORDER BY member_cluster_id LIMIT $2)
ORDER BY id LIMIT $2`;

const REGION_COLUMNS = `project_id, region, version, mode, phase, ${list(COUNTS)}`;
const FIND_WRONG_REGIONS = `
WITH present AS MATERIALIZED (SELECT ${REGION_COLUMNS} FROM (${sumByRegion('member_cluster_rollup')}) AS s),
  folded AS MATERIALIZED (SELECT ${REGION_COLUMNS} FROM region_rollup WHERE total <> 0)
SELECT count(*) AS wrong FROM ((TABLE present EXCEPT TABLE folded) UNION ALL (TABLE folded EXCEPT TABLE present)) AS d`;

export interface Slice {
  /** Of those counted before; null: from the first. */
  readonly after: string | null;
  readonly size: number;
}
export interface SliceCheck {
  /** Where the next slice begins; null: the fleet was gone through. */
  readonly next: string | null;
  readonly wrong: readonly string[];
  /** Of these, those whose counts cannot be written. */
  readonly apart: readonly Apart[];
}

/** Member clusters whose counts were wrong, and are right now. */
export async function checkMemberClusters(tx: EntityManager, slice: Slice): Promise<SliceCheck> {
  const rows = await tx.query<{ id: string }[]>(SLICE, [slice.after, slice.size]);
  const ids = rows.map((row) => row.id);
  const wrong = (await tx.query<{ id: string }[]>(FIND_WRONG, [ids])).map((row) => row.id);
  const { apart } = await countApart(tx, wrong, countAgain);
  return { next: ids.length < slice.size ? null : (ids.at(-1) ?? null), wrong, apart };
}

/** Counts by region that differ from the sum of their member clusters; all are made anew when one does. */
export async function checkRegions(tx: EntityManager): Promise<number> {
  const [found] = await tx.query<{ wrong: number }[]>(FIND_WRONG_REGIONS);
  const wrong = found?.wrong ?? 0;
  await tx.query(wrong > 0 ? 'DELETE FROM region_rollup' : 'DELETE FROM region_rollup WHERE total = 0');
  if (wrong === 0) return 0;
  await tx.query(`INSERT INTO region_rollup (${REGION_COLUMNS}) ${sumByRegion('member_cluster_rollup')}`);
  return wrong;
}
