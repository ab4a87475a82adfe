/**
 * Holds the limits of agent-limits.rules.ts for local objects and events, in the transaction that stores them. The counts
 * are rows that triggers and these statements keep (migrations/1764660100000-agent-limits.ts). A batch within its limits
 * costs one look at them.
 */
import type { EntityManager } from 'typeorm';

import type { SetApart } from '../../../platform/database/set-apart.ts';
import { isOfOneEntry } from '../../../platform/database/sql-state.ts';
import { AGENT_LIMITS, chooseFitting, findExcess, type IncomingObject, type LocalUsage } from './agent-limits.rules.ts';

/** One local object as it would be stored. */
export interface LocalCandidate {
  readonly agentId: string;
  readonly sessionNo: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly bytes: number;
}

type Key = Pick<LocalCandidate, 'kind' | 'namespace' | 'name'>;
const keyOf = ({ kind, namespace, name }: Key): string => `${kind} ${namespace} ${name}`;

/** Those that their agents may still have stored. The heads of their agents are locked: nobody else counts meanwhile. */
export async function admitLocal<T extends LocalCandidate>(tx: EntityManager, candidates: readonly T[]): Promise<T[]> {
  const byAgent = Map.groupBy(candidates, ({ agentId }) => agentId);
  const used = await readUsage(tx, [...byAgent.keys()]);
  const admitted: T[] = [];
  for (const [agentId, own] of byAgent) {
    const mine = used.get(agentId) ?? { objects: 0, bytes: 0 };
    const isWithin = isPlenty(mine, own);
    admitted.push(...(isWithin ? own : await admitOfOne(tx, own, mine)));
  }
  return admitted;
}

/** True without a look at what is stored: all of it would fit, were none of it a change. */
const isPlenty = (used: LocalUsage, own: readonly LocalCandidate[]): boolean =>
  used.objects + own.length <= AGENT_LIMITS.localObjects &&
  used.bytes + own.reduce((sum, { bytes }) => sum + bytes, 0) <= AGENT_LIMITS.localBytes;

async function admitOfOne<T extends LocalCandidate>(
  tx: EntityManager,
  own: readonly T[],
  used: LocalUsage,
): Promise<T[]> {
  const [{ agentId, sessionNo }] = own as readonly [T];
  const stored = await readStored(tx, agentId, own);
  const incoming = own.map((one): IncomingObject => ({
    key: keyOf(one),
    bytes: one.bytes,
    storedBytes: stored.get(keyOf(one)),
  }));
  const excess = findExcess(used, incoming, AGENT_LIMITS);
  const isOver = excess.objects > 0 || excess.bytes > 0;
  const left = isOver ? await dropEarlier(tx, { agentId, sessionNo, own }, excess, used) : used;
  const fitting = chooseFitting(left, incoming, AGENT_LIMITS);
  return own.filter((one) => fitting.has(keyOf(one)));
}

async function readUsage(tx: EntityManager, agentIds: readonly string[]): Promise<ReadonlyMap<string, LocalUsage>> {
  const rows = await tx.query<({ agentId: string } & LocalUsage)[]>(
    'SELECT agent_id AS "agentId", objects, bytes FROM agent_local_usage WHERE agent_id = ANY($1::uuid[])',
    [agentIds],
  );
  return new Map(rows.map((row) => [row.agentId, row]));
}

const keysAsJson = (own: readonly Key[]): string =>
  JSON.stringify(own.map(({ kind, namespace, name }) => ({ kind, namespace, name })));

async function readStored(tx: EntityManager, agentId: string, own: readonly Key[]): Promise<Map<string, number>> {
  const rows = await tx.query<(Key & { bytes: number })[]>(
    `SELECT l.kind, l.namespace, l.name, l.bytes FROM local_object AS l
       JOIN jsonb_to_recordset($2::jsonb) AS i(kind text, namespace text, name text) USING (kind, namespace, name)
     WHERE l.agent_id = $1`,
    [agentId, keysAsJson(own)],
  );
  return new Map(rows.map((row) => [keyOf(row), row.bytes]));
}

interface Owner {
  readonly agentId: string;
  readonly sessionNo: number;
  readonly own: readonly Key[];
}

/**
 * What the agent told in earlier sessions gives way to what it tells now, as it would at the end of a full resend: an agent
 * whose objects were all replaced meanwhile would else be told that it has too many. Returns what is left.
 */
async function dropEarlier(
  tx: EntityManager,
  { agentId, sessionNo, own }: Owner,
  excess: LocalUsage,
  used: LocalUsage,
): Promise<LocalUsage> {
  const [rows] = await tx.query<[{ bytes: number }[], number]>(
    // By ctid: the head of the agent is locked, so its rows stay where they are; and without statistics a join would be a loop in a loop.
    `DELETE FROM local_object WHERE ctid = ANY(ARRAY(
       SELECT o.place_of FROM (
         SELECT ctid AS place_of, row_number() OVER w AS place, sum(bytes) OVER w - bytes AS before
         FROM local_object WHERE agent_id = $1 AND session_no < $2
           AND (kind, namespace, name) NOT IN (
             SELECT kind, namespace, name FROM jsonb_to_recordset($3::jsonb) AS i(kind text, namespace text, name text))
         WINDOW w AS (ORDER BY session_no, received_at, kind, namespace, name)) AS o
       WHERE o.place <= $4 OR o.before < $5)) RETURNING bytes`,
    [agentId, sessionNo, keysAsJson(own), excess.objects, excess.bytes],
  );
  return { objects: used.objects - rows.length, bytes: used.bytes - rows.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** How many new events each agent may have stored now. Locks the counts, in the order of the agents. */
export async function readEventRoom(
  tx: EntityManager,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  await tx.query(
    `INSERT INTO agent_event_usage (agent_id, minute_at, minute_count)
     SELECT id, now(), 0 FROM agent WHERE id = ANY($1::uuid[]) ORDER BY id ON CONFLICT DO NOTHING`,
    [agentIds],
  );
  const rows = await tx.query<{ agentId: string; count: number }[]>(
    `SELECT agent_id AS "agentId",
       CASE WHEN now() - minute_at BETWEEN interval '0' AND interval '1 minute' THEN minute_count ELSE 0 END AS count
     FROM agent_event_usage WHERE agent_id = ANY($1::uuid[]) ORDER BY agent_id FOR UPDATE`,
    [agentIds],
  );
  return new Map(rows.map(({ agentId, count }) => [agentId, Math.max(0, AGENT_LIMITS.eventsPerMinute - count)]));
}

/** `stored`: new events by agent. A minute begins with the first of them. */
export async function countEvents(tx: EntityManager, stored: ReadonlyMap<string, number>): Promise<void> {
  if (stored.size === 0) return;
  await tx.query(
    `UPDATE agent_event_usage AS u SET untrimmed = u.untrimmed + i.count,
       minute_at = CASE WHEN now() - u.minute_at BETWEEN interval '0' AND interval '1 minute' THEN u.minute_at ELSE now() END,
       minute_count = CASE WHEN now() - u.minute_at BETWEEN interval '0' AND interval '1 minute' THEN u.minute_count ELSE 0 END
         + i.count
     FROM unnest($1::uuid[], $2::int[]) AS i(agent_id, count) WHERE u.agent_id = i.agent_id`,
    [[...stored.keys()], [...stored.values()]],
  );
}

/** New events of an agent before it is looked whether it has too many. */
const TRIM_AFTER = 1_000;
/** Of one agent in one call: what a flood of before has left goes bit by bit, or its delete would never end in time. */
const MAX_DELETES = 5_000;

/**
 * Deletes events of agents beyond the newest that are kept of each; a handful of agents a call. Returns how many went. An agent
 * whose events cannot be deleted is set apart.
 */
export async function trimEvents(
  tx: EntityManager,
  apart: SetApart,
  { kept = AGENT_LIMITS.eventsKept, after = TRIM_AFTER } = {},
): Promise<number> {
  const agents = await tx.query<{ agentId: string }[]>(
    `SELECT agent_id AS "agentId" FROM agent_event_usage WHERE untrimmed >= $1 AND agent_id <> ALL($2::uuid[])
     ORDER BY agent_id LIMIT 20 FOR UPDATE SKIP LOCKED`,
    [after, apart.waiting],
  );
  let gone = 0;
  for (const { agentId } of agents) {
    try {
      gone += await tx.transaction((part) => trimOne(part, agentId, kept));
      apart.pass(agentId);
    } catch (error) {
      if (!isOfOneEntry(error)) throw error;
      apart.fail(agentId, error);
    }
  }
  return gone;
}

async function trimOne(tx: EntityManager, agentId: string, kept: number): Promise<number> {
  const [, count] = await tx.query<[unknown, number]>(
    `DELETE FROM event AS e USING (SELECT min(at) AS first, max(at) AS last FROM (
       SELECT at FROM event WHERE agent_id = $1 ORDER BY at DESC OFFSET $2 LIMIT ${MAX_DELETES}) AS beyond) AS b
     WHERE e.agent_id = $1 AND e.at BETWEEN b.first AND b.last`,
    [agentId, kept],
  );
  if (count < MAX_DELETES) await tx.query('UPDATE agent_event_usage SET untrimmed = 0 WHERE agent_id = $1', [agentId]);
  return count;
}
