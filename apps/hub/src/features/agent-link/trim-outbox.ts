import type { EntityManager } from 'typeorm';

/** An agent that is further behind gets a snapshot. */
const KEEP = '24 hours';

/** Forgets changes that were acked and are old, and empty counts. A newest change of each agent stays: it dates the outbox. */
export async function trimOutbox(tx: EntityManager): Promise<void> {
  await tx.query(
    `DELETE FROM desired_change AS c USING agent_spec_head AS h
     WHERE h.agent_id = c.agent_id AND c.revision < h.acked_revision AND c.at < now() - $1::interval`,
    [KEEP],
  );
  await tx.query(`DELETE FROM tombstone_release WHERE released_at < now() - interval '31 days'`);
}
