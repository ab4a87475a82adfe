/**
 * Hands what one agent served to the agent that takes its place. Nothing is sent or deleted by it: the new agent's first session
 * compares inventories, so an object that is there (a reinstalled agent, a member cluster restored from a backup) is found
 * again by its hubUid, and one that is not shows DELETED_LOCALLY until a person asks for it to be made anew. A delete that
 * waited was about the object that was; what stands there now may be a copy restored on purpose, so it waits for a person: a
 * trigger of `resource` sees to it (hold_delete_of_moved), since a replica of an older release would move it as it is. Without the
 * raised revision and session number the new agent's acks and status would count as older than its predecessor's.
 */
import type { EntityManager } from 'typeorm';

/** Agents that served the same scope there, revoked ones too: what they served is still listed under them. */
export async function findPredecessors(
  tx: EntityManager,
  agentId: string,
  memberClusterId: string,
): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }[]>(
    `SELECT other.id FROM agent AS mine JOIN agent AS other ON other.member_cluster_id = $2 AND other.id <> mine.id
       AND other.scope_kind = mine.scope_kind AND other.scope_namespace IS NOT DISTINCT FROM mine.scope_namespace
     WHERE mine.id = $1 ORDER BY other.id`,
    [agentId, memberClusterId],
  );
  return rows.map((row) => row.id);
}

/** Answers the hubUids that moved. */
export async function moveObjects(
  tx: EntityManager,
  agentId: string,
  predecessors: readonly string[],
): Promise<readonly string[]> {
  const all = [...predecessors, agentId];
  // In the order of every writer: heads, then objects.
  await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = ANY($1::uuid[]) ORDER BY agent_id FOR UPDATE', [all]);
  // The trigger makes their deletes wait, and others lock many deliveries in this order.
  await tx.query(
    `SELECT 1 FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid
     WHERE r.agent_id = ANY($1::uuid[]) AND r.deletion = 'DELETE' ORDER BY r.hub_uid FOR NO KEY UPDATE`,
    [predecessors],
  );
  const [moved] = await tx.query<[{ hubUid: string }[], number]>(
    `UPDATE resource SET agent_id = $1 WHERE agent_id = ANY($2::uuid[]) AND deleted_at IS NULL RETURNING hub_uid AS "hubUid"`,
    [agentId, predecessors],
  );
  await tx.query('UPDATE rollup_entry SET agent_id = $1 WHERE agent_id = ANY($2::uuid[])', [agentId, predecessors]);
  await tx.query('DELETE FROM local_object WHERE agent_id = ANY($1::uuid[])', [predecessors]);
  await tx.query(
    `UPDATE agent_spec_head SET inventory_needed = true, inventory_reason = 'REPLACED', acked_revision = 0,
       revision = (SELECT max(revision) + 1 FROM agent_spec_head WHERE agent_id = ANY($2::uuid[])) WHERE agent_id = $1`,
    [agentId, all],
  );
  await tx.query(
    `UPDATE agent_session SET session_no = (SELECT max(session_no) FROM agent_session WHERE agent_id = ANY($2::uuid[]))
     WHERE agent_id = $1`,
    [agentId, all],
  );
  return moved.map((row) => row.hubUid);
}
