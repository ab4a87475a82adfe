/**
 * Folds the counts of all agents into one row per (project, region, member cluster, version, mode, phase), with labels
 * and freshness, which change with time and not with a write. Dashboards read only this, so their cost does not depend
 * on the fleet. What an UNKNOWN agent last said is counted as unknown, never as ready and never as zero.
 */
import type { EntityManager } from 'typeorm';

const FOLD = `
WITH counted AS (
  SELECT jsonb_build_object('projectId', r.project_id, 'region', m.region, 'memberClusterId', m.id, 'version', r.version,
      'mode', r.mode, 'phase', r.phase) AS group_key, sum(r.count) AS total,
    sum(r.count) FILTER (WHERE seen.verdict = 'UNKNOWN') AS unknown,
    sum(r.count) FILTER (WHERE seen.verdict <> 'UNKNOWN' AND r.phase = 'Ready') AS ready,
    sum(r.count) FILTER (WHERE seen.verdict <> 'UNKNOWN' AND r.phase IN ('Degraded', 'ActionRequired', 'SpecRejected')) AS degraded
  FROM agent_rollup AS r JOIN agent AS a ON a.id = r.agent_id JOIN member_cluster AS m ON m.id = a.member_cluster_id
  LEFT JOIN LATERAL (SELECT coalesce((SELECT verdict FROM agent_seen WHERE agent_id = a.id), 'UNKNOWN') AS verdict) AS seen ON true
  WHERE r.count > 0 GROUP BY 1
), folded AS (
  SELECT md5(group_key::text) AS group_hash, group_key, total, coalesce(ready, 0) AS ready,
    coalesce(degraded, 0) AS degraded, coalesce(unknown, 0) AS unknown FROM counted
), vanished AS (
  DELETE FROM fleet_rollup WHERE group_hash NOT IN (SELECT group_hash FROM folded) RETURNING 1
), written AS (
  INSERT INTO fleet_rollup AS f (group_hash, group_key, total, ready, degraded, unknown)
  SELECT group_hash, group_key, total, ready, degraded, unknown FROM folded
  ON CONFLICT (group_hash) DO UPDATE SET total = excluded.total, ready = excluded.ready, degraded = excluded.degraded,
    unknown = excluded.unknown
  WHERE (f.total, f.ready, f.degraded, f.unknown) IS DISTINCT FROM
    (excluded.total, excluded.ready, excluded.degraded, excluded.unknown)
  RETURNING 1
)
SELECT (SELECT count(*) FROM vanished) + (SELECT count(*) FROM written) AS changed`;

/** Returns how many rows changed. */
export async function foldFleet(tx: EntityManager): Promise<number> {
  const rows = await tx.query<{ changed: number }[]>(FOLD);
  await tx.query(
    `INSERT INTO fleet_rollup_head (folded_at) VALUES (now()) ON CONFLICT (one) DO UPDATE SET folded_at = excluded.folded_at`,
  );
  return rows[0]?.changed ?? 0;
}
