/** A filter as SQL: one list of conditions, whose values are parameters throughout. */
import type { Freshness } from '#domain';
import type { SyncState } from './redis-cluster.enums.ts';

export interface RedisClusterConditions {
  readonly projects: 'ALL' | readonly string[];
  readonly memberClusterId?: string;
  readonly projectId?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The custom resource's own word, as are phase and mode in the rows. */
  readonly phase?: string;
  readonly mode?: string;
  readonly freshness?: Freshness;
  /** Narrows the rows to those that may have this state; sync-state.rules.ts decides. */
  readonly maySync?: SyncState;
}

/** What must hold in the row for a state to be possible at all. */
const MAY_SYNC: Readonly<Record<SyncState, string>> = {
  IN_SYNC: `d.state = 'APPLIED' AND r.deletion IS NULL`,
  PENDING: `r.deletion IS NULL AND (d.state IS NULL OR d.state = 'PENDING' OR d.hub_generation <> r.hub_generation)`,
  DRIFTED: `r.deletion IS NULL AND d.state IN ('APPLIED', 'CONFLICT') AND (d.contested IS NOT NULL OR s.foreign_fields <> '[]')`,
  DELETED_LOCALLY: `r.deletion IS NULL AND (s.gone OR d.state = 'DELETED_LOCALLY')`,
  REJECTED: `d.state = 'REJECTED'`,
  CONFLICT: `d.state = 'CONFLICT'`,
  WAITING: `d.state = 'WAITING'`,
  DELETING: `r.deletion IS NOT NULL`,
};

export function writeConditions(
  conditions: RedisClusterConditions,
  after?: string,
): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const parameters: unknown[] = [];
  const parts = ['r.deleted_at IS NULL'];
  const add = (value: unknown, write: (parameter: string) => string): void => {
    if (value === undefined) return;
    parameters.push(value);
    parts.push(write(`$${parameters.length}`));
  };
  add(after, (p) => `r.hub_uid > ${p}::uuid`);
  add(conditions.projects === 'ALL' ? undefined : conditions.projects, (p) => `r.project_id = ANY(${p}::uuid[])`);
  add(conditions.memberClusterId, (p) => `r.member_cluster_id = ${p}`);
  add(conditions.projectId, (p) => `r.project_id = ${p}`);
  add(conditions.namespace, (p) => `r.namespace = ${p}`);
  add(conditions.name, (p) => `r.name = ${p}`);
  add(conditions.phase, (p) => `s.phase = ${p}`);
  add(conditions.mode, (p) => `r.spec::jsonb ->> 'mode' = ${p}`);
  add(conditions.freshness, (p) => `coalesce(seen.verdict, 'UNKNOWN') = ${p}`);
  if (conditions.maySync !== undefined) parts.push(`(${MAY_SYNC[conditions.maySync]})`);
  return { sql: parts.join(' AND '), parameters };
}
