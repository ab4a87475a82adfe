/** Many approved agents at once, written as enrolment and approval write them; over the wire each would take a second. */
import { randomUUID } from 'node:crypto';
import { EMPTY_DIGEST } from '#protocol';

import type { TestHub } from './start-test-hub.ts';
import { createIdentity, type TestIdentity } from './test-agent.ts';

export type SeededIdentity = TestIdentity & { readonly agentId: string };

export async function seedAgents(hub: TestHub, count: number): Promise<readonly SeededIdentity[]> {
  const identities = Array.from({ length: count }, () => ({ ...createIdentity(), agentId: randomUUID() }));
  const rows = identities.map(({ agentId, keys, fingerprint }) => ({
    agent_id: agentId,
    cluster_id: randomUUID(),
    fingerprint,
    public_key: Buffer.from(keys.publicKey, 'base64url').toString('hex'),
  }));
  await hub.runtime.dataSource.query(
    `WITH i AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(agent_id uuid, cluster_id uuid, fingerprint text, public_key text)
     ), cluster AS (
       INSERT INTO member_cluster (id, name, fingerprint, state, created_at)
       SELECT cluster_id, cluster_id::text, fingerprint, 'ACTIVE', now() FROM i
     ), agent AS (
       INSERT INTO agent (id, member_cluster_id, scope_kind, public_key, fingerprint, state, created_at, approved_at)
       SELECT agent_id, cluster_id, 'CLUSTER', decode(public_key, 'hex'), fingerprint, 'ACTIVE', now(), now() FROM i
     ), spec AS (
       INSERT INTO agent_spec_head (agent_id, digest) SELECT agent_id, $2 FROM i
     ), status AS (
       INSERT INTO agent_status_head (agent_id) SELECT agent_id FROM i
     )
     INSERT INTO agent_session (agent_id, state) SELECT agent_id, 'DISCONNECTED' FROM i`,
    [JSON.stringify(rows), EMPTY_DIGEST],
  );
  return identities;
}
