/**
 * Numbers that an agent tells of an object that another agent of its member cluster pushed: only who operates a namespace
 * asks its Redis. They count for an object of the same member cluster, within the teller's scope and under the name it
 * says, so that no agent writes about what it cannot see. The object's own agent goes on telling its status; what it
 * does not know it does not erase, and when it operates the object again its numbers are the ones that count.
 */
import type { GuestItem } from '#protocol';
import type { EntityManager } from 'typeorm';

import { isUuid } from '../sessions/handshake.service.ts';
import type { StatusEntry } from './status-ingest.ts';

export interface GuestRow {
  readonly agentId: string;
  readonly guest: GuestItem;
}

/** The last word about each object, sorted as status rows are locked. */
export function collectGuests(entries: readonly StatusEntry[]): readonly GuestRow[] {
  const rows = new Map<string, GuestRow>();
  for (const { session, batch } of entries) {
    for (const guest of batch.guests ?? []) {
      if (isUuid(guest.hubUid)) rows.set(guest.hubUid.toLowerCase(), { agentId: session.agentId, guest });
    }
  }
  return [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** All rows that a commit writes, in one order: two commits that tell of each other's objects would else wait in a circle. */
export async function lockStatuses(tx: EntityManager, hubUids: readonly string[]): Promise<void> {
  await tx.query('SELECT 1 FROM resource_status WHERE hub_uid = ANY($1::uuid[]) ORDER BY hub_uid FOR NO KEY UPDATE', [
    hubUids,
  ]);
}

/** $1 rows as JSON. Without numbers: takes back what this agent told, and nothing else. */
const WRITE_GUESTS = `UPDATE resource_status AS s SET numbers = i.numbers,
    numbers_by = CASE WHEN i.numbers = '{}' THEN NULL ELSE i.agent_id END
  FROM jsonb_to_recordset($1::jsonb) AS i(agent_id uuid, hub_uid uuid, namespace text, name text, numbers jsonb)
    JOIN resource AS r ON r.hub_uid = i.hub_uid AND r.namespace = i.namespace AND r.name = i.name AND r.agent_id <> i.agent_id
    JOIN agent AS a ON a.id = i.agent_id AND a.member_cluster_id = r.member_cluster_id
      AND (a.scope_kind = 'CLUSTER' OR a.scope_namespace = r.namespace)
  WHERE s.hub_uid = i.hub_uid AND NOT s.gone AND (i.numbers <> '{}' OR s.numbers_by = i.agent_id)`;

export async function writeGuests(tx: EntityManager, rows: readonly GuestRow[]): Promise<void> {
  await lockStatuses(
    tx,
    rows.map(({ guest }) => guest.hubUid),
  );
  await tx.query(WRITE_GUESTS, [
    JSON.stringify(
      rows.map(({ agentId, guest: { hubUid, namespace, name, numbers } }) => ({
        agent_id: agentId,
        hub_uid: hubUid,
        namespace,
        name,
        numbers,
      })),
    ),
  ]);
}
