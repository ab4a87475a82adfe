/** Reads of RedisClusters. Every list takes the projects that the caller may see into its SQL. */
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiDatabase } from '../../platform/database/pools.ts';
import { type PreparedRead, readPrepared } from '../../platform/database/prepared-read.ts';
import { FRESHNESS_OF_STATUS, REPORTED_AT } from '../agent-link/index.ts';
import type { PageRequest } from '../../platform/graphql/index.ts';
import type {
  RedisClusterRow,
  RedisClusterStatusRow,
  StatusSummaryRow,
  SyncFactsCount,
} from './redis-cluster.entity.ts';
import { writeConditions, type RedisClusterConditions } from './redis-cluster-conditions.ts';

/** Outer joins by key: PostgreSQL leaves out those that no condition reads. */
const KEYS_FROM = `
  FROM resource r
  LEFT JOIN delivery d ON d.hub_uid = r.hub_uid
  LEFT JOIN resource_status s ON s.hub_uid = r.hub_uid`;
const FROM = `${KEYS_FROM}
  LEFT JOIN agent a ON a.id = r.agent_id
  LEFT JOIN agent_status_head head ON head.agent_id = r.agent_id`;
/** Above it, agents of one freshness are not few, and a page of their objects is found soon along the list. */
const FEW_AGENTS = 500;
const SELECT = `
  SELECT r.hub_uid, r.project_id, r.member_cluster_id, r.agent_id, a.state AS agent_state, r.namespace, r.name,
    r.hub_generation, r.spec, r.drift_policy, r.create_allowed, r.deletion, r.deletion_held_for, r.created_at, r.updated_at,
    d.hub_generation AS delivery_generation, d.state AS delivery_state, d.code AS delivery_code,
    d.message AS delivery_message, d.attempts AS delivery_attempts, d.updated_at AS delivery_updated_at,
    d.applied_generation, d.contested, s.foreign_fields, s.gone, ${REPORTED_AT} AS status_reported_at ${FROM}`;
const ROWS: PreparedRead = {
  name: 'redis-clusters',
  text: `${SELECT} WHERE r.hub_uid = ANY($1::uuid[]) ORDER BY r.hub_uid`,
};
const readOfStatus = (name: string, columns: string, joins = ''): PreparedRead => ({
  name,
  text: `SELECT s.hub_uid, s.observed_hub_generation, s.phase, s.mode, s.engine_version, s.size, s.ready_pods,
      s.current_primary, s.primary_term, s.data_set_id, ${REPORTED_AT} AS reported_at${columns},
      ${FRESHNESS_OF_STATUS} AS freshness, coalesce(session.inventory, 'UNKNOWN') AS inventory
    FROM resource_status s JOIN resource r USING (hub_uid) LEFT JOIN agent_seen seen ON seen.agent_id = r.agent_id
      LEFT JOIN agent_status_head head ON head.agent_id = r.agent_id
      LEFT JOIN agent_session session ON session.agent_id = r.agent_id
      LEFT JOIN status_unstored unstored ON unstored.hub_uid = r.hub_uid${joins}
    WHERE s.hub_uid = ANY($1::uuid[])`,
});
const STATUS_SUMMARIES = readOfStatus('status-summaries', '');
/**
 * Freshness is that of the object's own agent. Numbers that another one told are as old as that one's last word: they are
 * shown while it is heard itself, else they would pass for those of now. A revoked one is heard no more.
 */
const NUMBERS = `CASE WHEN s.numbers_by IS NULL OR teller.verdict = 'FRESH' THEN s.numbers ELSE '{}' END AS numbers`;
const STATUSES = readOfStatus(
  'statuses',
  `, s.endpoints, s.pods, s.conditions, ${NUMBERS}, s.details`,
  ' LEFT JOIN agent_seen teller ON teller.agent_id = s.numbers_by',
);

@Injectable()
export class RedisClustersRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  async find(hubUid: string, tx: EntityManager = this.dataSource.manager): Promise<RedisClusterRow | undefined> {
    const rows: RedisClusterRow[] = await tx.query(`${SELECT} WHERE r.hub_uid = $1 AND r.deleted_at IS NULL`, [hubUid]);
    return rows[0];
  }

  /**
   * The row, locked until the end of the transaction, so that generations follow each other. The agent's spec head is
   * locked first, as everybody does who changes desired state: in another order two of them would wait for each other.
   */
  async lock(tx: EntityManager, hubUid: string): Promise<RedisClusterRow | undefined> {
    await tx.query(
      `SELECT 1 FROM agent_spec_head WHERE agent_id = (SELECT agent_id FROM resource WHERE hub_uid = $1) FOR UPDATE`,
      [hubUid],
    );
    await tx.query('SELECT 1 FROM resource WHERE hub_uid = $1 FOR UPDATE', [hubUid]);
    return this.find(hubUid, tx);
  }

  /** Before several rows are locked one after the other: all heads first, in the order in which everybody takes them. */
  async lockHeads(tx: EntityManager, hubUids: readonly string[]): Promise<void> {
    await tx.query(
      `SELECT 1 FROM agent_spec_head WHERE agent_id IN (SELECT agent_id FROM resource WHERE hub_uid = ANY($1::uuid[]))
       ORDER BY agent_id FOR UPDATE`,
      [hubUids],
    );
  }

  /**
   * At most `page.size + 1` rows in the order of hubUid, which is that of creation. The keys of the page come first, by a
   * plan that is made for the values of the filter; then its rows, by a plan that is kept. In one statement the joins of
   * the rows, which are always the same, would be planned anew with each page. A page of which rows were deleted in
   * between is read again: what is short would pass for the last one.
   */
  async list(page: PageRequest, conditions: RedisClusterConditions): Promise<RedisClusterRow[]> {
    const where = writeConditions(await this.narrow(conditions), page.after);
    const keys: { hub_uid: string }[] = await this.dataSource.query(
      `SELECT r.hub_uid ${KEYS_FROM} WHERE ${where.sql} ORDER BY r.hub_uid LIMIT ${page.size + 1}`,
      where.parameters,
    );
    if (keys.length === 0) return [];
    const hubUids = keys.map((key) => key.hub_uid);
    const rows = await readPrepared<RedisClusterRow>(this.dataSource, ROWS, [hubUids]);
    return rows.length < keys.length ? this.list(page, conditions) : rows;
  }

  async count(conditions: RedisClusterConditions): Promise<number> {
    const where = writeConditions(await this.narrow(conditions));
    const rows: { count: number }[] = await this.dataSource.query(
      `SELECT count(*) ${KEYS_FROM} WHERE ${where.sql}`,
      where.parameters,
    );
    return rows[0]?.count ?? 0;
  }

  /** Rows counted by what decides their sync state, so that the rule need not see each of them. */
  async countFacts(conditions: RedisClusterConditions): Promise<SyncFactsCount[]> {
    const where = writeConditions(await this.narrow(conditions));
    return this.dataSource.query(
      `SELECT r.deletion, coalesce(d.state, 'PENDING') AS "deliveryState", r.create_allowed AS "createAllowed",
         coalesce(d.hub_generation = r.hub_generation, false) AS "deliveryIsCurrent", coalesce(s.gone, false) AS gone,
         (d.contested IS NOT NULL OR coalesce(s.foreign_fields <> '[]', false)) AS "mayDrift", count(*) AS count
       ${KEYS_FROM} WHERE ${where.sql} GROUP BY 1, 2, 3, 4, 5, 6`,
      where.parameters,
    );
  }

  private async narrow(conditions: RedisClusterConditions): Promise<RedisClusterConditions> {
    const { freshness, ...others } = conditions;
    if (freshness === undefined || freshness === 'FRESH') return conditions;
    if (freshness === 'LATE' && (await this.someAreUnstored())) return conditions;
    const rows: { id: string }[] = await this.dataSource.query(
      `SELECT a.id FROM agent AS a LEFT JOIN agent_seen AS seen ON seen.agent_id = a.id
       WHERE coalesce(seen.verdict, 'UNKNOWN') = $1 LIMIT ${FEW_AGENTS + 1}`,
      [freshness],
    );
    return rows.length > FEW_AGENTS ? conditions : { ...others, agentIds: rows.map((row) => row.id) };
  }

  private async someAreUnstored(): Promise<boolean> {
    const rows: { some: boolean }[] = await this.dataSource.query(
      'SELECT EXISTS (SELECT 1 FROM status_unstored) AS some',
    );
    return rows[0]?.some === true;
  }

  readStatuses(hubUids: readonly string[]): Promise<RedisClusterStatusRow[]> {
    return readPrepared(this.dataSource, STATUSES, [hubUids]);
  }

  readStatusSummaries(hubUids: readonly string[]): Promise<StatusSummaryRow[]> {
    return readPrepared(this.dataSource, STATUS_SUMMARIES, [hubUids]);
  }
}
