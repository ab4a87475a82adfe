/**
 * Numbers that an agent tells of an object that another agent of its member cluster pushed: only who operates a namespace
 * asks its Redis. They count for an object of the same member cluster, within the teller's scope and under the name it
 * says, so that no agent writes about what it cannot see. The object's own agent goes on telling its status; what it
 * does not know it does not erase, and when it operates the object again its numbers are the ones that count.
 */
import type { GuestItem } from '#protocol';
import type { EntityManager } from 'typeorm';

import { isUuid } from '../sessions/handshake.service.ts';
import type { StatusEntry } from './status-entry.ts';

export interface GuestRow {
  readonly agentId: string;
  readonly guest: GuestItem;
}

/**
 * The last word of each agent about each object, in the order of arrival. By the object alone, an agent that nobody would
 * believe could take the place of the one that operates it.
 */
export function collectGuests(entries: readonly StatusEntry[]): readonly GuestRow[] {
  const rows = new Map<string, GuestRow>();
  for (const { session, batch } of entries) {
    for (const guest of batch.guests ?? []) {
      if (!isUuid(guest.hubUid)) continue;
      const key = `${session.agentId} ${guest.hubUid}`;
      rows.delete(key);
      rows.set(key, { agentId: session.agentId, guest });
    }
  }
  return [...rows.values()];
}

/** `i` what is told, `r` its object, `a` the teller, `s` the status it would change. Without numbers: takes back its own. */
const PERMITTED = `resource AS r ON r.hub_uid = i.hub_uid AND r.namespace = i.namespace AND r.name = i.name
    AND r.agent_id <> i.agent_id AND r.deleted_at IS NULL
  JOIN agent AS a ON a.id = i.agent_id AND a.state = 'ACTIVE' AND a.member_cluster_id = r.member_cluster_id
    AND (a.scope_kind = 'CLUSTER' OR a.scope_namespace = r.namespace)`;
const CHANGES = `NOT s.gone AND (i.takes_back IS FALSE OR s.numbers_by = i.agent_id)`;

/** $1 rows as JSON, without their numbers. */
const FIND_PERMITTED = `SELECT i.at FROM jsonb_to_recordset($1::jsonb)
    AS i(at int, agent_id uuid, hub_uid uuid, namespace text, name text, takes_back boolean)
  JOIN ${PERMITTED} JOIN resource_status AS s ON s.hub_uid = i.hub_uid WHERE ${CHANGES} ORDER BY i.at`;

/** Those that the teller may write, and would. Locks nothing: who may not write makes nobody wait either. */
export async function findPermitted(tx: EntityManager, rows: readonly GuestRow[]): Promise<readonly GuestRow[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<{ at: number }[]>(FIND_PERMITTED, [JSON.stringify(rows.map(toRow))]);
  return found.flatMap(({ at }) => rows[at] ?? []);
}

/** All rows that a commit writes, in one order: two commits that tell of each other's objects would else wait in a circle. */
export async function lockStatuses(tx: EntityManager, hubUids: readonly string[]): Promise<void> {
  await tx.query('SELECT 1 FROM resource_status WHERE hub_uid = ANY($1::uuid[]) ORDER BY hub_uid FOR NO KEY UPDATE', [
    hubUids,
  ]);
}

/** $1 rows as JSON. Who may write is asked again, now that the rows are locked. */
const WRITE_GUESTS = `UPDATE resource_status AS s SET numbers = i.numbers,
    numbers_by = CASE WHEN i.takes_back THEN NULL ELSE i.agent_id END
  FROM jsonb_to_recordset($1::jsonb)
    AS i(agent_id uuid, hub_uid uuid, namespace text, name text, numbers jsonb, takes_back boolean)
  JOIN ${PERMITTED} WHERE s.hub_uid = i.hub_uid AND ${CHANGES}`;

/** `permitted`: as `findPermitted` returns them, their rows locked. */
export async function writeGuests(tx: EntityManager, permitted: readonly GuestRow[]): Promise<void> {
  for (const round of inRounds(permitted)) {
    const rows = round.map((row, at) => ({ ...toRow(row, at), numbers: row.guest.numbers }));
    await tx.query(WRITE_GUESTS, [JSON.stringify(rows)]);
  }
}

/** No round names an object twice: one UPDATE takes any one of several words, and not the last. Mostly there is one. */
function inRounds(rows: readonly GuestRow[]): GuestRow[][] {
  const turns = new Map<string, number>();
  const rounds: GuestRow[][] = [];
  for (const row of rows) {
    const turn = turns.get(row.guest.hubUid) ?? 0;
    turns.set(row.guest.hubUid, turn + 1);
    (rounds[turn] ??= []).push(row);
  }
  return rounds;
}

const toRow = ({ agentId, guest: { hubUid, namespace, name, numbers } }: GuestRow, at: number): object => ({
  at,
  agent_id: agentId,
  hub_uid: hubUid,
  namespace,
  name,
  takes_back: Object.keys(numbers).length === 0,
});
