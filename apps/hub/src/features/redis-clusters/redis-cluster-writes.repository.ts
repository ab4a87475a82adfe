/** Writes of RedisClusters. Each runs in the transaction of its mutation; the desired state of the agent is changed beside it. */
import type { TombstoneKind } from '#domain';
import { API_GROUP_VERSION, REDIS_CLUSTER_KIND } from '#domain';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AgentCandidate } from './choose-agent.rules.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';

export interface NewRedisCluster {
  readonly hubUid: string;
  readonly projectId: string;
  readonly memberClusterId: string;
  readonly agentId: string;
  readonly namespace: string;
  readonly name: string;
  readonly spec: { readonly text: string; readonly hash: string };
  readonly driftPolicy: string;
  readonly adopt: boolean;
  readonly at: Date;
}

export interface Revision {
  readonly spec: { readonly text: string; readonly hash: string };
  readonly driftPolicy: string;
  /** Fields to take back by force with this generation; undefined: none. */
  readonly revertFields?: readonly string[];
  readonly allowCreate?: boolean;
  readonly at: Date;
}

export interface NewDeleteApproval {
  readonly id: string;
  /** Name of the principal. */
  readonly by: string;
  readonly at: Date;
  readonly expiresAt: Date;
}

export interface Placement {
  readonly memberClusterName: string;
  readonly memberClusterState: string;
  readonly agents: readonly AgentCandidate[];
}

@Injectable()
export class RedisClusterWritesRepository {
  /** The member cluster and its agents, or undefined. */
  async findPlacement(tx: EntityManager, memberClusterId: string): Promise<Placement | undefined> {
    const rows: Placement[] = await tx.query(
      `SELECT m.name AS "memberClusterName", m.state AS "memberClusterState",
         coalesce((SELECT json_agg(json_build_object('id', a.id, 'scopeKind', a.scope_kind,
                     'scopeNamespace', a.scope_namespace, 'state', a.state) ORDER BY a.id)
                   FROM agent a WHERE a.member_cluster_id = m.id), '[]') AS agents
       FROM member_cluster m WHERE m.id = $1 AND m.state <> 'FORGOTTEN'`,
      [memberClusterId],
    );
    return rows[0];
  }

  /** False when the name is taken. Locks the agent's spec head first, see RedisClustersRepository.lock. */
  async insert(tx: EntityManager, made: NewRedisCluster): Promise<boolean> {
    await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [made.agentId]);
    const inserted: unknown[] = await tx.query(
      `INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
         hub_generation, spec, spec_hash, drift_policy, adopt, create_allowed, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $11, $12, true, $13, $13)
       ON CONFLICT DO NOTHING RETURNING hub_uid`,
      [
        made.hubUid,
        made.projectId,
        made.memberClusterId,
        made.agentId,
        API_GROUP_VERSION,
        REDIS_CLUSTER_KIND,
        made.namespace,
        made.name,
        made.spec.text,
        made.spec.hash,
        made.driftPolicy,
        made.adopt,
        made.at,
      ],
    );
    return inserted.length > 0;
  }

  /** Writes the next generation. */
  async revise(tx: EntityManager, hubUid: string, revision: Revision): Promise<void> {
    await tx.query(
      `UPDATE resource SET hub_generation = hub_generation + 1, spec = $2, spec_hash = $3, drift_policy = $4,
         revert_fields = $5::jsonb, create_allowed = create_allowed OR $6, updated_at = $7
       WHERE hub_uid = $1`,
      [
        hubUid,
        revision.spec.text,
        revision.spec.hash,
        revision.driftPolicy,
        revision.revertFields === undefined ? null : JSON.stringify(revision.revertFields),
        revision.allowCreate ?? false,
        revision.at,
      ],
    );
  }

  /**
   * `actor`: id of the principal who asks. What the breaker holds stays held, also while it is let go instead. The breaker has not
   * judged anything else yet. Returns the Kubernetes uids that a DELETE is about, by which the object was known until now: a
   * trigger of `resource` (name_what_is_meant) writes them.
   */
  async setDeletion(
    tx: EntityManager,
    hubUid: string,
    { deletion, actor, at }: { readonly deletion: TombstoneKind; readonly actor: string; readonly at: Date },
  ): Promise<readonly string[]> {
    const [rows] = await tx.query<[{ uids: string[] | null }[], number]>(
      `UPDATE resource SET deletion = $2, deletion_actor = $3, updated_at = $4,
         deletion_held_at = CASE WHEN deletion_held_for = 'DELETE_BREAKER' THEN deletion_held_at END,
         deletion_held_for = CASE WHEN deletion_held_for = 'DELETE_BREAKER' THEN deletion_held_for END
       WHERE hub_uid = $1 RETURNING deletion_uids AS uids`,
      [hubUid, deletion, actor, at],
    );
    return rows[0]?.uids ?? [];
  }

  /** A person lets these deletes through; each must be locked. Returns the Kubernetes uids that each is about from now on, by hubUid. */
  async approveDeletes(
    tx: EntityManager,
    approval: NewDeleteApproval,
    rows: readonly RedisClusterRow[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const hubUids = rows.map((row) => row.hub_uid);
    await tx.query(
      'INSERT INTO delete_approval (id, hub_uids, approved_by, approved_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
      [approval.id, hubUids, approval.by, approval.at, approval.expiresAt],
    );
    await tx.query(
      `INSERT INTO tombstone_release (hub_uid, agent_id, released_at, actor, approval_id)
       SELECT hub_uid, agent_id, $2, deletion_actor, $3 FROM resource WHERE hub_uid = ANY($1::uuid[])
       ON CONFLICT (hub_uid) DO UPDATE SET approval_id = excluded.approval_id`,
      [hubUids, approval.at, approval.id],
    );
    const [named] = await tx.query<[{ hubUid: string; uids: string[] | null }[], number]>(
      `UPDATE resource SET deletion_held_at = NULL, deletion_held_for = NULL WHERE hub_uid = ANY($1::uuid[])
       RETURNING hub_uid AS "hubUid", deletion_uids AS uids`,
      [hubUids],
    );
    return new Map(named.map(({ hubUid, uids }) => [hubUid, uids ?? []]));
  }

  /** Only where no agent is left who could acknowledge a tombstone. */
  async remove(tx: EntityManager, hubUid: string): Promise<void> {
    await tx.query('DELETE FROM resource WHERE hub_uid = $1', [hubUid]);
  }
}
