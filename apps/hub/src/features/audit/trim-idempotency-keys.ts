import type { EntityManager } from 'typeorm';

import type { SetApart } from '../../platform/database/set-apart.ts';
import { trimByOwner } from '../../platform/database/trim-by-owner.ts';

/** A day is promised; an hour more, since the keys are dated by the clocks of replicas and judged by the database's. */
const KEEP = '25 hours';
const MOST_AT_ONCE = 5_000;

const OVER = {
  table: 'idempotency_key',
  find: `SELECT ctid::text AS row, principal AS owner FROM idempotency_key
    WHERE created_at < now() - interval '${KEEP}' AND principal <> ALL($1)
    ORDER BY created_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED`,
};

/** Forgets keys whose day is over. Their owner would do so only when he used the same key again. Bounded. */
export const trimIdempotencyKeys = (tx: EntityManager, apart: SetApart): Promise<void> => trimByOwner(tx, OVER, apart);
