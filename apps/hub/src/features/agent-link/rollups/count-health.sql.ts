/**
 * How RedisClusters are counted for dashboards, in one place for the fold and for its check: what an UNKNOWN agent last
 * said is unknown, never ready, degraded or zero; what a LATE one last said still counts, and is counted as late besides.
 */

/** The keys of `member_cluster_rollup`, in the order of its primary key. */
export const KEYS = ['member_cluster_id', 'project_id', 'version', 'mode', 'phase'] as const;
export const COUNTS = ['total', 'ready', 'degraded', 'unknown', 'late'] as const;
/** Stands for all projects together in `region_rollup`. */
export const ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';

export const list = (names: readonly string[], write = (name: string): string => name): string =>
  names.map(write).join(', ');

const sumWhere = (condition: string): string => `coalesce(sum(r.count) FILTER (WHERE ${condition}), 0)::bigint`;
const HEARD = `coalesce(seen.verdict, 'UNKNOWN') <> 'UNKNOWN'`;

/** The counts of the member clusters in $1 as they are now, in the columns of `member_cluster_rollup`. */
export const COUNT_MEMBER_CLUSTERS = `
  SELECT m.id AS member_cluster_id, r.project_id, r.version, r.mode, r.phase, coalesce(m.region, '') AS region,
    sum(r.count)::bigint AS total, ${sumWhere(`${HEARD} AND r.phase = 'Ready'`)} AS ready,
    ${sumWhere(`${HEARD} AND r.phase IN ('Degraded', 'ActionRequired', 'SpecRejected')`)} AS degraded,
    ${sumWhere(`NOT ${HEARD}`)} AS unknown, ${sumWhere(`seen.verdict = 'LATE'`)} AS late
  FROM member_cluster AS m JOIN agent AS a ON a.member_cluster_id = m.id JOIN agent_rollup AS r ON r.agent_id = a.id
  LEFT JOIN agent_seen AS seen ON seen.agent_id = a.id
  WHERE m.id = ANY($1::uuid[]) AND r.count > 0
  GROUP BY m.id, r.project_id, r.version, r.mode, r.phase`;

/** `rows` of member clusters summed by region, once for each project and once for all together. */
export const sumByRegion = (rows: string): string => `
  SELECT coalesce(project_id, '${ALL_PROJECTS}') AS project_id, region, version, mode, phase,
    ${list(COUNTS, (name) => `sum(${name})::bigint AS ${name}`)}
  FROM ${rows} GROUP BY GROUPING SETS ((project_id, region, version, mode, phase), (region, version, mode, phase))`;
