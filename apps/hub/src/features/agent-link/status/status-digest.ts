/**
 * Whether what is stored of an agent's status is exactly what the agent would tell: the sum of its items' hashes against
 * the sum of those stored. One query for all agents that wait. What proves nothing is unknown, and unknown is a
 * difference: a row of an agent that told no hash, one that a replica of before has written since, an object that the
 * agent reported before this hub knew it. A wrong yes would leave a stale status for ever; a wrong no costs a resend.
 */
import { EMPTY_DIGEST, statusDigestOf } from '#protocol';
import type { EntityManager } from 'typeorm';

import type { StatusEntry } from './status-entry.ts';

/** A status_hash that an agent told, and not the hub's own of 64 digits. */
const TOLD_DIGITS = 32;

/** An object that the last full resend did not name: stored as it was last seen, and counted as nothing. */
export const UNREPORTED_HASH = EMPTY_DIGEST;

/** $1 agents. One row for each that has anything stored; gone objects are not told again, so they do not count. */
const STORED_HASHES = `
SELECT agent_id AS "agentId", string_agg(hash, ' ') AS hashes, bool_or(hash IS NULL) AS unknown FROM (
  SELECT r.agent_id, CASE WHEN length(s.status_hash) = ${TOLD_DIGITS} THEN s.status_hash END AS hash
  FROM resource AS r JOIN resource_status AS s ON s.hub_uid = r.hub_uid
  WHERE r.agent_id = ANY($1::uuid[]) AND r.deleted_at IS NULL AND NOT s.gone
  UNION ALL
  SELECT l.agent_id, CASE WHEN r.hub_uid IS NULL THEN l.item ->> 'hash' END AS hash
  FROM local_object AS l LEFT JOIN resource AS r ON r.hub_uid = l.hub_uid_claimed AND r.agent_id = l.agent_id
    AND (r.namespace, r.name) = (l.namespace, l.name) AND r.deleted_at IS NULL
  WHERE l.agent_id = ANY($1::uuid[])
) AS stored GROUP BY agent_id`;

interface StoredHashes {
  readonly agentId: string;
  readonly hashes: string | null;
  readonly unknown: boolean;
}

/** Agents of these entries whose statusDigest is that of what is stored. Only the first batch of a session may ask. */
export async function findInSync(tx: EntityManager, entries: readonly StatusEntry[]): Promise<ReadonlySet<string>> {
  const asked = new Map(
    entries.flatMap(({ session, batch }) =>
      batch.statusDigest !== undefined && batch.counter === 0 ? [[session.agentId, batch.statusDigest]] : [],
    ),
  );
  if (asked.size === 0) return new Set();
  const rows = await tx.query<StoredHashes[]>(STORED_HASHES, [[...asked.keys()]]);
  const stored = new Map(rows.map((row) => [row.agentId, row]));
  return new Set([...asked].filter(([agentId, digest]) => isSame(stored.get(agentId), digest)).map(([id]) => id));
}

function isSame(row: StoredHashes | undefined, digest: string): boolean {
  if (row === undefined) return digest === EMPTY_DIGEST;
  if (row.unknown || row.hashes === null) return false;
  const hashes = row.hashes.split(' ');
  return hashes.every((hash) => hash.length === TOLD_DIGITS) && statusDigestOf(hashes) === digest;
}
