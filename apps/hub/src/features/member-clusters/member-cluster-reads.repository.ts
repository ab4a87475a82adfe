import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiDatabase } from '../../platform/database/pools.ts';
import { LOCAL_REPORTED_AT } from '../agent-link/index.ts';
import type { PageRequest } from '../../platform/graphql/index.ts';
import type { AgentRow, LocalObjectRow, MemberClusterRow } from './member-cluster.entity.ts';

const MEMBER_CLUSTER = 'SELECT id, name, labels, region, fingerprint, state, created_at FROM member_cluster';
const AGENT = `
  SELECT a.id, a.member_cluster_id, a.scope_kind, a.scope_namespace, a.state, a.state_reason, a.agent_version, a.fingerprint, a.capabilities,
    s.state AS session_state, s.inventory, s.session_no, s.replica, h.revision, h.acked_revision, seen.seen_at, seen.verdict,
    over.over_limit_at > now() - interval '2 hours' AS over_limit
  FROM agent a
  LEFT JOIN agent_session s ON s.agent_id = a.id
  LEFT JOIN agent_spec_head h ON h.agent_id = a.id
  LEFT JOIN agent_seen seen ON seen.agent_id = a.id
  LEFT JOIN agent_event_usage over ON over.agent_id = a.id`;

@Injectable()
export class MemberClusterReadsRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  readMemberClusters(ids: readonly string[], tx: EntityManager = this.dataSource.manager): Promise<MemberClusterRow[]> {
    return tx.query(`${MEMBER_CLUSTER} WHERE id = ANY($1)`, [ids]);
  }

  /** One row more than the page, in the order of enrolment, without forgotten ones. */
  list(page: PageRequest): Promise<MemberClusterRow[]> {
    return this.dataSource.query(
      `${MEMBER_CLUSTER} WHERE state <> 'FORGOTTEN' AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`,
      [page.after ?? null, page.size + 1],
    );
  }

  async count(): Promise<number> {
    const sql = `SELECT count(*) FROM member_cluster WHERE state <> 'FORGOTTEN'`;
    const rows: { count: number }[] = await this.dataSource.query(sql);
    return rows[0]?.count ?? 0;
  }

  readAgents(ids: readonly string[], tx: EntityManager = this.dataSource.manager): Promise<AgentRow[]> {
    return tx.query(`${AGENT} WHERE a.id = ANY($1)`, [ids]);
  }

  /** Without revoked ones, in the order of their making. */
  readAgentsOf(memberClusterIds: readonly string[]): Promise<AgentRow[]> {
    return this.dataSource.query(
      `${AGENT} WHERE a.member_cluster_id = ANY($1) AND a.state <> 'REVOKED' ORDER BY a.id`,
      [memberClusterIds],
    );
  }

  /** The RedisClusters that the hub still lists there; at most 10,000. */
  async listHubUids(tx: EntityManager, memberClusterId: string): Promise<string[]> {
    const rows: { hub_uid: string }[] = await tx.query(
      'SELECT hub_uid FROM resource WHERE member_cluster_id = $1 AND deleted_at IS NULL ORDER BY hub_uid LIMIT 10000',
      [memberClusterId],
    );
    return rows.map((row) => row.hub_uid);
  }

  /** What two agents see, one of them cluster-wide, is told once: by the agent that serves the namespace. */
  readLocalObjects(memberClusterId: string): Promise<LocalObjectRow[]> {
    return this.dataSource.query(
      `SELECT DISTINCT ON (o.namespace, o.name, o.kind) o.kind, o.namespace, o.name, o.kube_uid, o.hub_uid_claimed, o.item,
         ${LOCAL_REPORTED_AT} AS reported_at
       FROM local_object o JOIN agent a ON a.id = o.agent_id LEFT JOIN agent_status_head head ON head.agent_id = o.agent_id
       WHERE a.member_cluster_id = $1
       ORDER BY o.namespace, o.name, o.kind, (a.state = 'REVOKED'), (a.scope_kind = 'CLUSTER') LIMIT 1000`,
      [memberClusterId],
    );
  }
}
