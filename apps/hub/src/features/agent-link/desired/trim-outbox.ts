/** Forgets what nobody will ask for again, in the claimed worker. Each statement is bounded; the rest waits for the next. */
import type { EntityManager } from 'typeorm';

import type { SetApart } from '../../../platform/database/set-apart.ts';
import { type Trim, trimByOwner } from '../../../platform/database/trim-by-owner.ts';

/** An agent that is further behind gets a snapshot. */
const KEEP = '24 hours';
const MOST_AT_ONCE = 5_000;
const LOCKED = `LIMIT ${MOST_AT_ONCE} FOR UPDATE`;

/** Changes that were acked and are old, releases that the breaker no longer counts, and empty counts. */
const TRIMS: readonly Trim[] = [
  {
    table: 'desired_change',
    // The newest change of each agent stays: it dates the outbox.
    find: `SELECT c.ctid::text AS row, c.agent_id::text AS owner
      FROM desired_change AS c JOIN agent_spec_head AS h ON h.agent_id = c.agent_id
      WHERE c.at < now() - interval '${KEEP}' AND c.revision < h.acked_revision AND c.agent_id::text <> ALL($1)
      ORDER BY c.at ${LOCKED} OF c SKIP LOCKED`,
  },
  {
    table: 'tombstone_release',
    // What an agent that is away has yet to be told keeps its verdict.
    find: `SELECT t.ctid::text AS row, t.agent_id::text AS owner FROM tombstone_release AS t
      WHERE t.released_at < now() - interval '31 days' AND t.agent_id::text <> ALL($1)
        AND NOT EXISTS (SELECT 1 FROM resource AS r WHERE r.hub_uid = t.hub_uid) ${LOCKED} OF t SKIP LOCKED`,
  },
  {
    table: 'delete_approval',
    find: `SELECT a.ctid::text AS row, a.id::text AS owner FROM delete_approval AS a
      WHERE a.expires_at < now() - interval '31 days' AND a.id::text <> ALL($1)
        AND NOT EXISTS (SELECT 1 FROM tombstone_release AS t WHERE t.approval_id = a.id) ${LOCKED} OF a SKIP LOCKED`,
  },
  {
    table: 'replica_delete_limits',
    find: `SELECT ctid::text AS row, replica AS owner FROM replica_delete_limits
      WHERE seen_at < now() - interval '1 day' AND replica <> ALL($1) ${LOCKED} SKIP LOCKED`,
  },
  {
    table: 'agent_rollup',
    // A row that somebody counts in at present is skipped: counting must never wait for tidiness.
    find: `SELECT ctid::text AS row, agent_id::text AS owner FROM agent_rollup WHERE count = 0 AND agent_id::text <> ALL($1)
      ORDER BY agent_id, project_id, mode, version, phase ${LOCKED} SKIP LOCKED`,
  },
];

export async function trimOutbox(tx: EntityManager, apart: SetApart): Promise<void> {
  for (const trim of TRIMS) await trimByOwner(tx, trim, apart);
}
