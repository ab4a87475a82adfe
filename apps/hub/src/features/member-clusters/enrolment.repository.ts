import type { EntityManager } from 'typeorm';

import type { EnrolMemberClusterInput } from './member-clusters.types.ts';

export interface AgentRow {
  readonly id: string;
  readonly memberClusterId: string;
  readonly scopeKind: 'CLUSTER' | 'NAMESPACE';
  readonly fingerprint: string | null;
  readonly state: 'PENDING_TOKEN' | 'PENDING_APPROVAL' | 'ACTIVE' | 'QUARANTINED' | 'REVOKED';
}

export async function isNameTaken(tx: EntityManager, name: string): Promise<boolean> {
  // Two enrolments of one name at once: the second waits here, then sees the first.
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`member cluster ${name}`]);
  const found = await tx.query<unknown[]>(`SELECT 1 FROM member_cluster WHERE name = $1 AND state <> 'FORGOTTEN'`, [
    name,
  ]);
  return found.length > 0;
}

interface NewMemberCluster {
  readonly id: string;
  readonly input: EnrolMemberClusterInput;
  readonly nowMs: number;
}

export async function insertMemberCluster(tx: EntityManager, { id, input, nowMs }: NewMemberCluster): Promise<void> {
  await tx.query(
    `INSERT INTO member_cluster (id, name, labels, region, state, created_at) VALUES ($1, $2, $3, $4, 'PENDING', $5)`,
    [id, input.name, JSON.stringify(input.labels), input.region ?? null, new Date(nowMs)],
  );
}

/** With the rows of its heads and session, which are only ever updated afterwards. */
export async function insertAgent(
  tx: EntityManager,
  agent: NewMemberCluster & { readonly memberClusterId: string; readonly emptyDigest: string },
): Promise<void> {
  const { id, memberClusterId, input, nowMs, emptyDigest } = agent;
  await tx.query(
    `INSERT INTO agent (id, member_cluster_id, scope_kind, scope_namespace, state, created_at)
     VALUES ($1, $2, $3, $4, 'PENDING_TOKEN', $5)`,
    [id, memberClusterId, input.scope, input.namespace ?? null, new Date(nowMs)],
  );
  await tx.query('INSERT INTO agent_spec_head (agent_id, digest) VALUES ($1, $2)', [id, emptyDigest]);
  await tx.query('INSERT INTO agent_status_head (agent_id) VALUES ($1)', [id]);
  await tx.query(`INSERT INTO agent_session (agent_id, state) VALUES ($1, 'DISCONNECTED')`, [id]);
}

export async function insertToken(tx: EntityManager, hash: Buffer, agentId: string, expiresAt: Date): Promise<void> {
  await tx.query('INSERT INTO enrolment_token (token_hash, agent_id, expires_at) VALUES ($1, $2, $3)', [
    hash,
    agentId,
    expiresAt,
  ]);
}

export async function dropTokens(tx: EntityManager, agentId: string): Promise<void> {
  await tx.query('DELETE FROM enrolment_token WHERE agent_id = $1', [agentId]);
}

export async function lockAgent(tx: EntityManager, agentId: string): Promise<AgentRow | undefined> {
  const rows = await tx.query<AgentRow[]>(
    `SELECT id, member_cluster_id AS "memberClusterId", scope_kind AS "scopeKind", fingerprint, state
     FROM agent WHERE id = $1 FOR UPDATE`,
    [agentId],
  );
  return rows[0];
}

export async function findByFingerprint(
  tx: EntityManager,
  fingerprint: string,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  // Two approvals of one Kubernetes cluster at once: the second waits here, then sees the first.
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`fingerprint ${fingerprint}`]);
  const rows = await tx.query<{ id: string; name: string }[]>(
    `SELECT id, name FROM member_cluster WHERE fingerprint = $1 AND state <> 'FORGOTTEN'`,
    [fingerprint],
  );
  return rows[0];
}

/** Whether another agent serves this agent's scope there. Locks the member cluster: of two approvals the second sees the first. */
export async function isScopeTaken(tx: EntityManager, agentId: string, memberClusterId: string): Promise<boolean> {
  await tx.query('SELECT 1 FROM member_cluster WHERE id = $1 FOR UPDATE', [memberClusterId]);
  const found = await tx.query<unknown[]>(
    `SELECT 1 FROM agent AS mine JOIN agent AS other ON other.member_cluster_id = $2 AND other.id <> mine.id
       AND other.scope_kind = mine.scope_kind AND other.scope_namespace IS NOT DISTINCT FROM mine.scope_namespace
       AND other.state <> 'REVOKED'
     WHERE mine.id = $1`,
    [agentId, memberClusterId],
  );
  return found.length > 0;
}

/** True when the member cluster was never approved and has lost its only agent to another: then its name is free. */
export async function forgetIfLeft(tx: EntityManager, memberClusterId: string): Promise<boolean> {
  const [, found] = await tx.query<[unknown, number]>(
    `UPDATE member_cluster SET state = 'FORGOTTEN' WHERE id = $1 AND state = 'PENDING'
       AND NOT EXISTS (SELECT 1 FROM agent WHERE member_cluster_id = $1 AND state <> 'REVOKED')`,
    [memberClusterId],
  );
  return found === 1;
}

/** False when there is no such member cluster. An agent of scope CLUSTER gives it its fingerprint. */
export async function activate(
  tx: EntityManager,
  change: { readonly agent: AgentRow; readonly memberClusterId: string; readonly nowMs: number },
): Promise<boolean> {
  const { agent, memberClusterId, nowMs } = change;
  const [, found] = await tx.query<[unknown, number]>(
    `UPDATE member_cluster SET state = 'ACTIVE', fingerprint = CASE WHEN $2 THEN $3 ELSE fingerprint END
     WHERE id = $1 AND state <> 'FORGOTTEN'`,
    [memberClusterId, agent.scopeKind === 'CLUSTER', agent.fingerprint],
  );
  if (found === 0) return false;
  await tx.query(
    `UPDATE agent SET state = 'ACTIVE', state_reason = NULL, approved_at = $2, member_cluster_id = $3 WHERE id = $1`,
    [agent.id, new Date(nowMs), memberClusterId],
  );
  // A quarantined one begins anew: take-overs from before a person looked say nothing of what is there now.
  await tx.query('DELETE FROM agent_take_over WHERE agent_id = $1', [agent.id]);
  return true;
}

export async function setState(tx: EntityManager, agentId: string, state: AgentRow['state']): Promise<void> {
  await tx.query('UPDATE agent SET state = $2 WHERE id = $1', [agentId, state]);
}

export async function listAgents(tx: EntityManager, memberClusterId: string): Promise<readonly string[]> {
  const rows = await tx.query<
    {
      id: string;
    }[]
  >('SELECT id FROM agent WHERE member_cluster_id = $1 ORDER BY id', [memberClusterId]);
  return rows.map((row) => row.id);
}

export async function forget(tx: EntityManager, memberClusterId: string): Promise<boolean> {
  const [, found] = await tx.query<[unknown, number]>(
    `UPDATE member_cluster SET state = 'FORGOTTEN' WHERE id = $1 AND state <> 'FORGOTTEN'`,
    [memberClusterId],
  );
  return found === 1;
}
