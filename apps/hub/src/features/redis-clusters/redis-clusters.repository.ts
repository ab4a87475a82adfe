/** Reads of RedisClusters. Every list takes the projects that the caller may see into its SQL. */
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { REPORTED_AT } from '../agent-link/index.ts';
import type { PageRequest } from '../../platform/graphql/index.ts';
import type { RedisClusterRow, RedisClusterStatusRow } from './redis-cluster.entity.ts';
import { writeConditions, type RedisClusterConditions } from './redis-cluster-conditions.ts';

const FROM = `
  FROM resource r
  JOIN agent a ON a.id = r.agent_id
  LEFT JOIN delivery d ON d.hub_uid = r.hub_uid
  LEFT JOIN resource_status s ON s.hub_uid = r.hub_uid
  LEFT JOIN agent_status_head head ON head.agent_id = r.agent_id
  LEFT JOIN agent_seen seen ON seen.agent_id = r.agent_id`;
const SELECT = `
  SELECT r.hub_uid, r.project_id, r.member_cluster_id, r.agent_id, a.state AS agent_state, r.namespace, r.name,
    r.hub_generation, r.spec, r.drift_policy, r.create_allowed, r.deletion, r.created_at, r.updated_at,
    d.hub_generation AS delivery_generation, d.state AS delivery_state, d.code AS delivery_code,
    d.message AS delivery_message, d.attempts AS delivery_attempts, d.updated_at AS delivery_updated_at,
    d.applied_generation, d.contested, s.foreign_fields, s.gone, ${REPORTED_AT} AS status_reported_at ${FROM}`;

@Injectable()
export class RedisClustersRepository {
  constructor(private readonly dataSource: DataSource) {}

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

  /** At most `page.size + 1` rows in the order of hubUid, which is that of creation. */
  list(page: PageRequest, conditions: RedisClusterConditions): Promise<RedisClusterRow[]> {
    const where = writeConditions(conditions, page.after);
    return this.dataSource.query(
      `${SELECT} WHERE ${where.sql} ORDER BY r.hub_uid LIMIT ${page.size + 1}`,
      where.parameters,
    );
  }

  async count(conditions: RedisClusterConditions): Promise<number> {
    const where = writeConditions(conditions);
    const rows: { count: number }[] = await this.dataSource.query(
      `SELECT count(*) ${FROM} WHERE ${where.sql}`,
      where.parameters,
    );
    return rows[0]?.count ?? 0;
  }

  readStatuses(hubUids: readonly string[]): Promise<RedisClusterStatusRow[]> {
    return this.dataSource.query(
      `SELECT s.hub_uid, s.observed_hub_generation, s.phase, s.mode, s.engine_version, s.size, s.ready_pods,
         s.current_primary, s.primary_term, s.endpoints, s.pods, s.conditions, s.numbers, s.details, s.data_set_id,
         ${REPORTED_AT} AS reported_at,
         coalesce(seen.verdict, 'UNKNOWN') AS freshness, coalesce(session.inventory, 'UNKNOWN') AS inventory
       FROM resource_status s JOIN resource r USING (hub_uid) LEFT JOIN agent_seen seen ON seen.agent_id = r.agent_id
         LEFT JOIN agent_status_head head ON head.agent_id = r.agent_id
         LEFT JOIN agent_session session ON session.agent_id = r.agent_id
       WHERE s.hub_uid = ANY($1)`,
      [hubUids],
    );
  }
}
