import type { EntityManager } from 'typeorm';

/** A day is promised; an hour more, since the keys are dated by the clocks of replicas and judged by the database's. */
const KEEP = '25 hours';
const MOST_AT_ONCE = 5_000;

/** Forgets keys whose day is over. Their owner would do so only when he used the same key again. Bounded. */
export async function trimIdempotencyKeys(tx: EntityManager): Promise<void> {
  await tx.query(
    `DELETE FROM idempotency_key WHERE (principal, key) IN (
       SELECT principal, key FROM idempotency_key WHERE created_at < now() - $1::interval
       ORDER BY created_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
    [KEEP],
  );
}
