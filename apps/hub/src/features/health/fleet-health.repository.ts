/**
 * Reads the folded counts, never the RedisClusters themselves: `region_rollup`, whose size is that of its groups, and
 * `member_cluster_rollup` only where member clusters are asked for, a page at a time and in the order of its key, so that
 * no more is read than is answered. One statement, so that groups and totals are of one moment.
 */
import { Injectable } from '@nestjs/common';
import { ApiDatabase } from '../../platform/database/pools.ts';
import type { FleetDimension } from './fleet-health.model.ts';

export interface FleetCountsRow {
  readonly total: number;
  readonly ready: number;
  readonly degraded: number;
  readonly unknown: number;
  readonly late: number;
}
export type FleetGroupRow = FleetCountsRow & { readonly key: Readonly<Record<string, string>> };

export interface FleetHealthRow {
  readonly foldedAt: Date | null;
  readonly stale: boolean;
  readonly totals: FleetCountsRow;
  /** One more than the page when there are more. A region of '' is none. */
  readonly groups: readonly FleetGroupRow[];
}

export interface GroupsRequest {
  /** In the order by which groups are sorted. */
  readonly dimensions: readonly FleetDimension[];
  readonly projects: 'ALL' | readonly string[];
  readonly size: number;
  /** Values of the last group of the page before, one for each dimension. */
  readonly after?: readonly string[];
}

const COLUMN: Readonly<Record<FleetDimension, string>> = {
  projectId: 'project_id',
  region: 'region',
  memberClusterId: 'member_cluster_id',
  version: 'version',
  mode: 'mode',
  phase: 'phase',
};
/** `region_rollup` counts all projects together under this one. */
const ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';
const COUNTS = ['total', 'ready', 'degraded', 'unknown', 'late'] as const;
const SUMS = COUNTS.map((name) => `coalesce(sum(${name}::int), 0) AS ${name}`).join(', ');

/** Folded twice a second; no count yet is none that is out of date. */
const IS_STALE = `EXISTS (SELECT 1 FROM health_rollup_head WHERE folded_at < now() - interval '1 minute')
  OR EXISTS (SELECT 1 FROM rollup_apart)`;

@Injectable()
export class FleetHealthRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  async read(request: GroupsRequest): Promise<FleetHealthRow> {
    const parameters: unknown[] = [request.projects === 'ALL' ? ALL_PROJECTS : request.projects];
    const one = request.projects === 'ALL' ? '= $1::uuid' : '= ANY($1::uuid[])';
    const groups = request.dimensions.length === 0 ? `'[]'::json` : `(${writeGroups(request, one, parameters)})`;
    const rows: FleetHealthRow[] = await this.dataSource.query(
      `SELECT (SELECT folded_at FROM health_rollup_head) AS "foldedAt", ${IS_STALE} AS stale,
         (SELECT row_to_json(t) FROM (SELECT ${SUMS} FROM region_rollup WHERE project_id ${one}) AS t) AS totals,
         ${groups} AS groups`,
      parameters,
    );
    if (!rows[0]) throw new Error('a row of subqueries came back empty');
    return rows[0];
  }
}

function writeGroups(request: GroupsRequest, project: string, parameters: unknown[]): string {
  const { dimensions, projects, after, size } = request;
  const columns = dimensions.map((dimension) => COLUMN[dimension]);
  const byMemberCluster = dimensions.includes('memberClusterId');
  const apart = byMemberCluster || dimensions.includes('projectId');
  const conditions = ['total > 0'];
  if (!(projects === 'ALL' && apart)) conditions.push(`project_id ${project}`);
  else if (!byMemberCluster) conditions.push('project_id <> $1::uuid');
  if (after) {
    const values = after.map((value, index) => `$${parameters.push(value)}::${typeOf(columns[index])}`);
    conditions.push(`(${columns.join(', ')}) > (${values.join(', ')})`);
  }
  const key = dimensions.map((dimension, index) => `'${dimension}', ${columns[index]}`).join(', ');
  return `SELECT coalesce(json_agg(g), '[]') FROM (
    SELECT json_build_object(${key}) AS key, ${SUMS} FROM ${byMemberCluster ? 'member_cluster_rollup' : 'region_rollup'}
    WHERE ${conditions.join(' AND ')} GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')} LIMIT ${size + 1}) AS g`;
}

const typeOf = (column: string | undefined): string => (column?.endsWith('_id') ? 'uuid' : 'text');
