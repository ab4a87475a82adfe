/**
 * Who may write status, and in which order. The head of an agent's status says how far it was told: (session_no, counter)
 * of the last batch. It is locked and raised before anything of the batch is looked at, so a batch of an older session
 * that is still on its way to its commit can neither follow one of a newer session nor slip behind the comparison of
 * that session's digest.
 */
import type { EntityManager } from 'typeorm';

import { sessionKeyOf } from '../sessions/session-key.ts';
import type { StatusEntry } from './status-entry.ts';

export interface ClaimedEntries {
  /** Those to write: of the present session, and not older than what is stored. */
  readonly valid: readonly StatusEntry[];
  /** Keys of the sessions that may not write any more. */
  readonly fenced: ReadonlySet<string>;
  /** Keys of the sessions of which an earlier batch is not stored, though it was acked: the database lost it. */
  readonly behind: ReadonlySet<string>;
}

interface ClaimedHead {
  readonly agentId: string;
  readonly sessionNo: number;
  readonly headSession: number;
  readonly headCounter: number;
}

/** $1 agents, $2 sessions, $3 counters. Returns the heads as they were, of sessions that may write. */
const CLAIM_HEADS = `WITH mine AS (
  SELECT agent_id, session_no, max(counter) AS last
  FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS m(agent_id, session_no, counter) GROUP BY agent_id, session_no
), locked AS (
  SELECT h.agent_id, h.session_no AS head_session, h.counter AS head_counter, mine.session_no, mine.last
  FROM agent_status_head AS h JOIN mine ON mine.agent_id = h.agent_id
    JOIN agent_session AS s ON s.agent_id = h.agent_id AND s.session_no = mine.session_no
    JOIN agent AS a ON a.id = h.agent_id AND a.state = 'ACTIVE'
  ORDER BY h.agent_id FOR NO KEY UPDATE OF h
), raised AS (
  UPDATE agent_status_head AS h SET session_no = l.session_no,
    counter = CASE WHEN l.head_session = l.session_no THEN greatest(l.head_counter, l.last) ELSE l.last END
  FROM locked AS l WHERE h.agent_id = l.agent_id AND l.head_session <= l.session_no
)
SELECT agent_id AS "agentId", session_no AS "sessionNo", head_session AS "headSession", head_counter AS "headCounter"
FROM locked WHERE head_session <= session_no`;

export async function claimHeads(tx: EntityManager, entries: readonly StatusEntry[]): Promise<ClaimedEntries> {
  const rows = await tx.query<ClaimedHead[]>(CLAIM_HEADS, [
    entries.map(({ session }) => session.agentId),
    entries.map(({ session }) => session.sessionNo),
    entries.map(({ batch }) => batch.counter),
  ]);
  return judgeEntries(entries, new Map(rows.map((row) => [sessionKeyOf(row), row])));
}

/** `heads`: as they were before this commit, by session; a session without one may not write. */
export function judgeEntries(
  entries: readonly StatusEntry[],
  heads: ReadonlyMap<string, Pick<ClaimedHead, 'headSession' | 'headCounter'>>,
): ClaimedEntries {
  const valid: StatusEntry[] = [];
  const fenced = new Set<string>();
  const behind = new Set<string>();
  const reached = new Map<string, number>();
  for (const entry of entries) {
    const key = sessionKeyOf(entry.session);
    const head = heads.get(key);
    if (head === undefined) {
      fenced.add(key);
      continue;
    }
    const stored = head.headSession === entry.session.sessionNo ? head.headCounter : -1;
    const before = reached.get(key) ?? stored;
    if (entry.batch.counter > before + 1) behind.add(key);
    reached.set(key, Math.max(before, entry.batch.counter));
    if (entry.batch.counter >= stored) valid.push(entry);
  }
  return { valid, fenced, behind };
}

/** $1 agents, $2 time. All that they would tell is stored. */
const CONFIRM = `WITH stored AS (
  DELETE FROM status_unstored WHERE hub_uid IN (SELECT hub_uid FROM resource WHERE agent_id = ANY($1::uuid[]))
)
UPDATE agent_status_head SET confirmed_at = $2 WHERE agent_id = ANY($1::uuid[])`;

/** In sync now is as good as a report of every object, without writing their rows. */
export async function confirmStatus(tx: EntityManager, agentIds: Iterable<string>, nowMs: number): Promise<void> {
  await tx.query(CONFIRM, [[...agentIds], new Date(nowMs)]);
}
