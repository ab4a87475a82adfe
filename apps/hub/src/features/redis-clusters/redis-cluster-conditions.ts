/**
 * A filter as SQL: one list of conditions, whose values are parameters throughout. Each is written so that an index in the
 * order of the list (hub_uid) finds its first page: what is true of few rows is found by those rows' keys, since a walk
 * along the list would pass the whole fleet before it had a page of them (migrations/1764633801000-list-indexes.ts).
 */
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
  /** In place of `freshness`, when few agents have it: those agents. */
  readonly agentIds?: readonly string[];
  /** Narrows the rows to those that may have this state; sync-state.rules.ts decides. */
  readonly maySync?: SyncState | 'NOT_PLAINLY_IN_SYNC';
  /** Only rows in which some field is owned by another, so that drift.rules.ts must look. */
  readonly mayDrift?: true;
}

const FOREIGN = `SELECT hub_uid FROM resource_status WHERE foreign_fields <> '[]'`;
const CONTESTED = 'SELECT hub_uid FROM delivery WHERE contested IS NOT NULL';
const GONE = 'SELECT hub_uid FROM resource_status WHERE gone';
const among = (...queries: string[]): string => `r.hub_uid IN (${queries.join(' UNION ')})`;

/**
 * What must hold in the row for a state to be possible at all. Whoever raises a generation sets the delivery PENDING in
 * the same transaction (change-desired.ts), so a delivery of an older generation is among those.
 */
const MAY_SYNC: Readonly<Record<SyncState | 'NOT_PLAINLY_IN_SYNC', string>> = {
  IN_SYNC: `d.state = 'APPLIED' AND r.deletion IS NULL`,
  PENDING: `r.deletion IS NULL AND d.state = 'PENDING'`,
  DRIFTED: `r.deletion IS NULL AND d.state IN ('APPLIED', 'CONFLICT') AND ${among(FOREIGN, CONTESTED)}`,
  DELETED_LOCALLY: `r.deletion IS NULL AND ${among(GONE, `SELECT hub_uid FROM delivery WHERE state = 'DELETED_LOCALLY'`)}`,
  REJECTED: `d.state = 'REJECTED'`,
  CONFLICT: `d.state = 'CONFLICT'`,
  WAITING: `d.state = 'WAITING'`,
  DELETING: `r.deletion IS NOT NULL`,
  NOT_PLAINLY_IN_SYNC: among(
    FOREIGN,
    CONTESTED,
    GONE,
    `SELECT hub_uid FROM delivery WHERE state <> 'APPLIED'`,
    'SELECT hub_uid FROM resource WHERE deletion IS NOT NULL',
  ),
};

const VERDICT = 'SELECT 1 FROM agent_seen AS v WHERE v.agent_id = r.agent_id AND v.verdict';
const UNSTORED = 'SELECT hub_uid FROM status_unstored';
/** As `FRESHNESS_OF_STATUS` shows it. */
const FRESHNESS: Readonly<Record<Freshness, string>> = {
  FRESH: `EXISTS (${VERDICT} = 'FRESH') AND r.hub_uid NOT IN (${UNSTORED})`,
  LATE: `(EXISTS (${VERDICT} = 'LATE') OR (r.hub_uid IN (${UNSTORED}) AND EXISTS (${VERDICT} = 'FRESH')))`,
  UNKNOWN: `NOT EXISTS (${VERDICT} <> 'UNKNOWN')`,
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
  add(conditions.mode, (p) => `r.mode = ${p}`);
  add(conditions.agentIds, (p) => `r.agent_id = ANY(${p}::uuid[])`);
  if (conditions.freshness !== undefined) parts.push(FRESHNESS[conditions.freshness]);
  if (conditions.maySync !== undefined) parts.push(`(${MAY_SYNC[conditions.maySync]})`);
  if (conditions.mayDrift) parts.push(among(FOREIGN, CONTESTED));
  return { sql: parts.join(' AND '), parameters };
}
