/**
 * Keeps the counts that dashboards read: by member cluster, and from those by region. Never a scan of the fleet: what
 * changed was marked in the transaction that changed it (migrations/health-rollups.ts), and only the member clusters
 * with a mark are counted again. The marks that one statement takes are committed, and so is what they speak of; a later
 * commit brings a mark of its own. Counted is absolute, not by difference, so a mark too many costs a count and no error.
 * One caller at a time (a claimed worker): two would each add the same difference to a region. A member cluster whose counts
 * cannot be written keeps those of before, is set apart (`count-apart.ts`), and holds up nobody.
 */
import type { EntityManager } from 'typeorm';

import { type Apart, countApart } from './count-apart.ts';
import { COUNT_MEMBER_CLUSTERS, COUNTS, KEYS, list, sumByRegion } from './count-health.sql.ts';

/** Bounds one transaction: as long as it is open, no reader of change_log passes it. */
export const MARKS_AT_ONCE = 1_000;

/** Member clusters that are set apart and tried again. */
const DUE_AT_ONCE = 100;

const TAKE_MARKS = `
WITH taken AS (
  DELETE FROM rollup_mark WHERE ctid = ANY(ARRAY(SELECT ctid FROM rollup_mark LIMIT ${MARKS_AT_ONCE}))
  RETURNING agent_id, member_cluster_id
)
SELECT (SELECT count(*) FROM taken) AS marks, coalesce(array_agg(DISTINCT dirty.id), '{}') AS "memberClusterIds",
  ARRAY(SELECT member_cluster_id FROM rollup_apart WHERE next_at <= now() ORDER BY next_at LIMIT ${DUE_AT_ONCE}) AS due,
  ARRAY(SELECT member_cluster_id FROM rollup_apart WHERE next_at > now()) AS waiting
FROM (
  SELECT member_cluster_id AS id FROM taken WHERE member_cluster_id IS NOT NULL
  UNION ALL SELECT a.member_cluster_id FROM (SELECT DISTINCT agent_id FROM taken) AS t JOIN agent AS a ON a.id = t.agent_id
) AS dirty`;

const COLUMNS = `${list(KEYS)}, region, ${list(COUNTS)}`;
const REGION_COLUMNS = `project_id, region, version, mode, phase`;

/**
 * $1 member clusters. Only rows that differ are written: an upsert locks, and so writes, each row that it leaves alone.
 * Region counts move by the difference between what is counted now and what was.
 */
const COUNT_AGAIN = `
WITH present AS MATERIALIZED (SELECT ${COLUMNS} FROM (${COUNT_MEMBER_CLUSTERS}) AS c
), past AS MATERIALIZED (
  SELECT ${COLUMNS} FROM member_cluster_rollup WHERE member_cluster_id = ANY($1::uuid[])
), added AS MATERIALIZED (TABLE present EXCEPT TABLE past
), removed AS MATERIALIZED (TABLE past EXCEPT TABLE present
), vanished AS (
  DELETE FROM member_cluster_rollup AS f USING (
    SELECT ${list(KEYS)} FROM (SELECT *, true AS stays FROM added UNION ALL SELECT *, false FROM removed) AS moved
    GROUP BY ${list(KEYS)} HAVING NOT bool_or(stays)) AS r
  WHERE (${list(KEYS, (name) => `f.${name}`)}) = (${list(KEYS, (name) => `r.${name}`)})
), written AS (
  INSERT INTO member_cluster_rollup (${COLUMNS}) SELECT ${COLUMNS} FROM added
  ON CONFLICT (${list(KEYS)}) DO UPDATE SET region = excluded.region, ${list(COUNTS, (name) => `${name} = excluded.${name}`)}
), difference AS (
  SELECT ${REGION_COLUMNS}, ${list(COUNTS)} FROM added
  UNION ALL SELECT ${REGION_COLUMNS}, ${list(COUNTS, (name) => `-${name}`)} FROM removed
), regions AS (
  INSERT INTO region_rollup AS f (${REGION_COLUMNS}, ${list(COUNTS)})
  SELECT * FROM (${sumByRegion('difference')}) AS d WHERE ${COUNTS.map((name) => `d.${name} <> 0`).join(' OR ')}
  ON CONFLICT (${REGION_COLUMNS}) DO UPDATE SET ${list(COUNTS, (name) => `${name} = f.${name} + excluded.${name}`)}
)
SELECT (SELECT count(*) FROM added) + (SELECT count(*) FROM removed) AS changed`;

export interface Fold {
  /** Marks taken; a full batch means that there may be more. */
  readonly marks: number;
  /** Rows of counts by member cluster that changed. */
  readonly changed: number;
  /** Member clusters whose counts could not be written. */
  readonly apart: readonly Apart[];
}

interface Taken {
  readonly marks: number;
  readonly memberClusterIds: readonly string[];
  /** Set apart before: those to be tried again now, and those to be left alone until then. */
  readonly due: readonly string[];
  readonly waiting: readonly string[];
}

/** Folds one batch of marks. */
export async function foldFleet(tx: EntityManager): Promise<Fold> {
  const [taken] = await tx.query<Taken[]>(TAKE_MARKS);
  if (!taken || (taken.marks === 0 && taken.due.length === 0)) return { marks: 0, changed: 0, apart: [] };
  const before = new Set([...taken.waiting, ...taken.due]);
  const marked = await countApart(
    tx,
    taken.memberClusterIds.filter((id) => !before.has(id)),
    countAgain,
  );
  const again = await countApart(tx, taken.due, countAgain);
  return { marks: taken.marks, changed: marked.changed + again.changed, apart: [...marked.apart, ...again.apart] };
}

/** Counts these member clusters anew. Returns how many rows changed. */
export async function countAgain(tx: EntityManager, memberClusterIds: readonly string[]): Promise<number> {
  if (memberClusterIds.length === 0) return 0;
  const rows = await tx.query<{ changed: number }[]>(COUNT_AGAIN, [memberClusterIds]);
  return rows[0]?.changed ?? 0;
}
