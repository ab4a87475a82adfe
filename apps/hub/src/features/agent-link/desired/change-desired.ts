/**
 * The one way by which desired state of an agent changes. The revision is raised under the lock of the agent's spec
 * head, which is held until commit: so revisions of one agent commit in their order, and a reader who has seen revision
 * r has seen everything up to r. Without the lock a reader could pass a lower revision that commits later. Whoever
 * writes an object locks the head first and then the object's row; the other order deadlocks with the booking of acks.
 */
import type { EntityManager } from 'typeorm';

import { signalsOf } from '../../../platform/database/signals.ts';

export type DesiredOp = 'UPSERT' | 'TOMBSTONE';

/**
 * Call after the row of `resource` is written, in the same transaction. UPSERT: with the new spec, spec_hash and
 * hub_generation + 1. TOMBSTONE: with `deletion` set. The object's delivery becomes PENDING; the agent is told after
 * the commit. Returns the agent's new revision. Throws when the agent has no spec head (it was never approved).
 */
export async function changeDesired(
  tx: EntityManager,
  agentId: string,
  hubUid: string,
  op: DesiredOp,
): Promise<number> {
  const rows: { revision: number }[] = await tx.query(
    `WITH head AS (
       UPDATE agent_spec_head SET revision = revision + 1 WHERE agent_id = $1 RETURNING revision
     ), change AS (
       INSERT INTO desired_change (agent_id, revision, hub_uid, op)
       SELECT $1, head.revision, $2, $3 FROM head
     ), pending AS (
       INSERT INTO delivery (hub_uid, hub_generation, state, updated_at)
       SELECT hub_uid, hub_generation, 'PENDING', now() FROM resource WHERE hub_uid = $2 AND agent_id = $1
       ON CONFLICT (hub_uid) DO UPDATE SET hub_generation = excluded.hub_generation, state = 'PENDING', code = NULL,
         message = NULL, retryable = NULL, attempts = 0, next_attempt_at = NULL, updated_at = excluded.updated_at
     ), counted AS (
       INSERT INTO rollup_entry (hub_uid, agent_id, project_id, mode, version, phase)
       SELECT hub_uid, agent_id, project_id, coalesce(spec::jsonb ->> 'mode', 'Unknown'),
         coalesce(spec::jsonb -> 'engine' ->> 'version', 'Unknown'), 'Pending'
       FROM resource WHERE hub_uid = $2 AND agent_id = $1 AND deletion IS NULL
       ON CONFLICT (hub_uid) DO NOTHING
     )
     SELECT revision FROM head`,
    [agentId, hubUid, op],
  );
  const revision = rows[0]?.revision;
  if (revision === undefined) throw new Error(`agent ${agentId} has no spec head`);
  signalsOf(tx.dataSource).sendAfterCommit(tx, 'desired', agentId);
  return revision;
}
