/**
 * Events of the member clusters, as their agents deduplicated them; one statement for all that wait. Each is one row for
 * good: told again it changes nothing, counted up it is raised, which brings it to the top of its object's list.
 */
import type { EventItem } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { countEvents, readEventRoom } from './agent-limits.repository.ts';
import { type SessionKey, sessionKeyOf } from '../sessions/session-key.ts';
import { eventIdOf } from './event-id.ts';
import { isUuid } from '../sessions/handshake.service.ts';

export interface EventEntry {
  readonly session: SessionKey;
  readonly items: readonly EventItem[];
}

/**
 * An object that another agent of the member cluster pushed, in the teller's scope and under this name: who is given its namespace
 * (atoll-scope) operates it, and what happens there is that object's story. `r` resource, `v` event, `a` its agent.
 */
const IS_OPERATED = `r.member_cluster_id = a.member_cluster_id AND (r.namespace, r.name) = (v.namespace, v.name)
    AND (a.scope_kind = 'CLUSTER' OR a.scope_namespace = r.namespace)`;

/**
 * $1 rows as JSON, in their order. The sessions stay locked, so that the next one of an agent finds what this one wrote.
 * Returns those that may write no more.
 */
const STORE_EVENTS = `WITH told AS (
  SELECT i.* FROM jsonb_to_recordset($1::jsonb) AS i(at_order int, agent_id uuid, session_no bigint, id uuid, hub_uid uuid,
    namespace text, name text, severity text, reason text, message text, first_at timestamptz, last_at timestamptz, count int)
), current AS (
  SELECT s.agent_id, s.session_no FROM agent_session AS s JOIN agent AS a ON a.id = s.agent_id AND a.state = 'ACTIVE'
  WHERE (s.agent_id, s.session_no) IN (SELECT agent_id, session_no FROM told) ORDER BY s.agent_id FOR SHARE OF s
), valid AS (
  SELECT told.*, now() + told.at_order * interval '1 microsecond' AS at FROM told JOIN current USING (agent_id, session_no)
), known AS (
  SELECT e.at, e.id FROM event AS e WHERE e.id IN (SELECT id FROM valid) AND e.at > now() - interval '2 days'
), raised AS (
  UPDATE event AS e SET at = v.at, count = greatest(e.count, v.count), last_at = greatest(e.last_at, v.last_at)
  FROM valid AS v JOIN known AS k USING (id)
  WHERE e.at = k.at AND e.id = k.id AND (v.count > e.count OR v.last_at > e.last_at)
), stored AS (
INSERT INTO event (id, at, agent_id, hub_uid, project_id, severity, reason, message, first_at, last_at, count)
SELECT v.id, v.at, v.agent_id, r.hub_uid, r.project_id, v.severity, v.reason, v.message, coalesce(v.first_at, now()),
  coalesce(v.last_at, now()), v.count
FROM valid AS v JOIN agent AS a ON a.id = v.agent_id
  LEFT JOIN resource AS r ON r.hub_uid = v.hub_uid AND (r.agent_id = v.agent_id OR (${IS_OPERATED}))
WHERE NOT EXISTS (SELECT 1 FROM known AS k WHERE k.id = v.id)
RETURNING agent_id
)
SELECT f.agent_id AS "agentId", f.session_no AS "sessionNo", 0 AS stored
FROM (SELECT agent_id, session_no FROM told EXCEPT SELECT agent_id, session_no FROM current) AS f
UNION ALL SELECT agent_id, NULL, count(*) FROM stored GROUP BY agent_id`;

/** $1 agents and ids as JSON. Those that are stored already: told again they cost no room. */
const FIND_KNOWN = `SELECT e.id FROM event AS e WHERE e.id = ANY($1::uuid[]) AND e.at > now() - interval '2 days'`;

type Row = Readonly<Record<string, unknown>> & { readonly agent_id: string; readonly id: string };

/** Told of events that were left out, since their agent tells too many. */
export type NoteLeftOut = (agentId: string, limit: 'EVENTS', count: number) => void;

export class EventRepository {
  readonly #dataSource: DataSource;
  readonly #onLeftOut: NoteLeftOut;

  constructor(dataSource: DataSource, onLeftOut: NoteLeftOut = () => undefined) {
    this.#dataSource = dataSource;
    this.#onLeftOut = onLeftOut;
  }

  /**
   * Returns the keys (see `sessionKeyOf`) of sessions that are not their agents' any more, or whose agents are not ACTIVE:
   * nothing of theirs was written, and it must not be acked, so that the agent tells it again in its next session. What is
   * beyond the limit of its agent is left out, and acked: told again it would be too much again.
   */
  async store(entries: readonly EventEntry[]): Promise<ReadonlySet<string>> {
    const rows = new Map(entries.flatMap(({ session, items }) => items.map((item) => toRow(session, item))));
    if (rows.size === 0) return new Set();
    const leftOut = new Map<string, number>();
    const fenced = await this.#dataSource.transaction(async (tx) => {
      const fitting = await keepWithinRoom(tx, [...rows.values()], leftOut);
      const ordered = fitting.map((row, at) => ({ ...row, at_order: at }));
      const found = await tx.query<(SessionKey & { stored: number })[]>(STORE_EVENTS, [JSON.stringify(ordered)]);
      const stored = found.filter((row) => row.stored > 0);
      await countEvents(tx, new Map(stored.map((row) => [row.agentId, Number(row.stored)])));
      return found.filter((row) => row.stored === 0);
    });
    for (const [agentId, count] of leftOut) this.#onLeftOut(agentId, 'EVENTS', count);
    return new Set(fenced.map(sessionKeyOf));
  }
}

/** Without the new events that are beyond what their agents may have stored in this minute; `leftOut` counts those. */
async function keepWithinRoom(tx: EntityManager, rows: readonly Row[], leftOut: Map<string, number>): Promise<Row[]> {
  const byAgent = Map.groupBy(rows, (row) => row.agent_id);
  const room = await readEventRoom(tx, [...byAgent.keys()]);
  const kept: Row[] = [];
  for (const [agentId, own] of byAgent) {
    let left = room.get(agentId) ?? 0;
    if (own.length <= left) kept.push(...own);
    else {
      const found = await tx.query<{ id: string }[]>(FIND_KNOWN, [own.map(({ id }) => id)]);
      const known = new Set(found.map(({ id }) => id));
      const fitting = own.filter(({ id }) => known.has(id) || (left -= 1) >= 0);
      kept.push(...fitting);
      if (fitting.length < own.length) leftOut.set(agentId, own.length - fitting.length);
    }
  }
  return kept;
}

/** By session and id: the last word of a session counts. */
function toRow({ agentId, sessionNo }: SessionKey, item: EventItem): [string, Row] {
  const id = eventIdOf(agentId, item);
  const row = {
    agent_id: agentId,
    session_no: sessionNo,
    id,
    hub_uid: item.hubUid !== undefined && isUuid(item.hubUid) ? item.hubUid : null,
    namespace: item.namespace,
    name: item.name,
    severity: item.severity,
    reason: item.reason,
    message: cutMessage(item.message),
    first_at: toTime(item.first),
    last_at: toTime(item.last),
    count: Math.min(item.count, MAX_COUNT),
  };
  return [`${sessionNo} ${id}`, row];
}

/** A sentence for people; 20,000 of them an agent are kept. */
const MAX_MESSAGE_CHARACTERS = 2_048;
const cutMessage = (text: string): string =>
  text.length <= MAX_MESSAGE_CHARACTERS ? text : `${text.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}…`;

/** Largest int of Postgres, which GraphQL's Int shares. */
const MAX_COUNT = 2 ** 31 - 1;
/** The years that RFC 3339 and Postgres both write with four digits. */
const [FIRST_MS, LAST_MS] = [Date.UTC(1, 0), Date.UTC(9999, 11)];

/** Times of member clusters are for display; one that cannot be read is not worth a refusal. */
function toTime(text: string): string | null {
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms).toISOString() : null;
}
