/** Forgets what nobody will ask for again, in the claimed worker. Each statement is bounded; the rest waits for the next. */
import type { EntityManager } from 'typeorm';

/** An agent that is further behind gets a snapshot. */
const KEEP = '24 hours';
const MOST_AT_ONCE = 5_000;

/** Changes that were acked and are old, releases that the breaker no longer counts, and empty counts. */
export async function trimOutbox(tx: EntityManager): Promise<void> {
  // The newest change of each agent stays: it dates the outbox.
  await tx.query(
    `DELETE FROM desired_change WHERE (agent_id, revision) IN (
       SELECT c.agent_id, c.revision FROM desired_change AS c JOIN agent_spec_head AS h ON h.agent_id = c.agent_id
       WHERE c.at < now() - $1::interval AND c.revision < h.acked_revision ORDER BY c.at LIMIT ${MOST_AT_ONCE})`,
    [KEEP],
  );
  // What an agent that is away has yet to be told keeps its verdict.
  await tx.query(
    `DELETE FROM tombstone_release AS t WHERE t.released_at < now() - interval '31 days'
       AND NOT EXISTS (SELECT 1 FROM resource AS r WHERE r.hub_uid = t.hub_uid)`,
  );
  await tx.query(
    `DELETE FROM delete_approval AS a WHERE a.expires_at < now() - interval '31 days'
       AND NOT EXISTS (SELECT 1 FROM tombstone_release AS t WHERE t.approval_id = a.id)`,
  );
  await tx.query(`DELETE FROM replica_delete_limits WHERE seen_at < now() - interval '1 day'`);
  await tx.query(
    // A row that somebody counts in at present is skipped: counting must never wait for tidiness.
    `DELETE FROM agent_rollup WHERE count = 0 AND (agent_id, project_id, mode, version, phase) IN (
       SELECT agent_id, project_id, mode, version, phase FROM agent_rollup WHERE count = 0
       ORDER BY 1, 2, 3, 4, 5 LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
  );
}
