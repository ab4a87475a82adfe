/**
 * Gives sessions to the agents of many Hellos in one transaction of a handful of statements. Under the locks of sessions
 * and agents, taken in the order of ids (another order would deadlock with another replica's), each entry is judged on
 * its own: the state counts as it is under the lock, a take-over is counted, a clone quarantined. What the session begins
 * with (spec head, what is unsettled) is read there too, so that an agent in step costs nothing more.
 */
import { LATE_AFTER_MS } from '#domain';
import type { Hello } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { signalsOf } from '../../../platform/database/signals.ts';
import { quarantine } from './quarantine.ts';
import type { SpecHead } from './resume-mode.rules.ts';
import type { AgentRow } from './agent-row.ts';
import { type Holder, isCloned, judgeTakeOver, TAKE_OVER_WINDOW_MS, type TakeOver } from './take-over.rules.ts';

export interface HelloEntry {
  readonly agent: AgentRow;
  readonly hello: Hello;
  /** The key that the Hello was signed with. When it is the current one the previous is forgotten. */
  readonly signedWith: Buffer;
}

export type Acceptance =
  | {
      readonly accepted: true;
      readonly sessionNo: number;
      readonly head: SpecHead;
      /** hubUids whose current generation is not settled: all that a retry can mend, the others when they are due. */
      readonly unsettled: readonly string[];
    }
  | { readonly accepted: false; readonly reason: 'CLONED' | 'HELD' | 'NOT_ACTIVE' | 'INCOMPLETE' | 'GONE' };

interface LockedSession extends Holder {
  readonly agentId: string;
  readonly agentState: string;
  readonly sessionNo: number;
}
type Beginning = Pick<Extract<Acceptance, { accepted: true }>, 'head' | 'unsettled'>;

/** One entry an agent: of two that an agent sent, the later belongs into the next call. */
export function acceptHellos(
  dataSource: DataSource,
  replica: string,
  entries: readonly HelloEntry[],
  nowMs: number,
): Promise<ReadonlyMap<string, Acceptance>> {
  return dataSource.transaction(async (tx) => {
    const locked = await lockSessions(tx, entries);
    const found = entries.filter(({ agent }) => locked.has(agent.id));
    const active = found.filter(({ agent }) => locked.get(agent.id)?.agentState === 'ACTIVE');
    const verdicts = new Map(active.map((one) => [one.agent.id, judgeTakeOver(locked.get(one.agent.id), one.hello)]));
    const suspects = active.filter(({ agent }) => verdicts.get(agent.id) === 'SUSPECT');
    const cloned = await recordTakeOvers(tx, suspects, locked, nowMs);
    for (const agentId of cloned)
      await quarantine(
        tx,
        agentId,
        'two live processes took the session from each other more than three times in five minutes: a copy of its Kubernetes cluster runs beside it',
        nowMs,
      );
    const accepted = active.filter(({ agent }) => !cloned.has(agent.id) && verdicts.get(agent.id) !== 'HELD');
    await writeSessions(tx, accepted, replica, nowMs);
    await appendChanges(
      tx,
      nowMs,
      accepted.map(({ agent }) => ({ topic: 'memberCluster', subject: agent.memberClusterId, kind: 'CHANGED' })),
    );
    const beginnings = await readBeginnings(tx, accepted);
    for (const { agent } of accepted) signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agent.id);
    const answer = ({ agent: { id } }: HelloEntry): Acceptance => {
      const session = locked.get(id);
      if (session !== undefined && session.agentState !== 'ACTIVE') return { accepted: false, reason: 'NOT_ACTIVE' };
      if (cloned.has(id)) return { accepted: false, reason: 'CLONED' };
      if (verdicts.get(id) === 'HELD') return { accepted: false, reason: 'HELD' };
      const beginning = beginnings.get(id);
      if (!session || !beginning) return { accepted: false, reason: 'INCOMPLETE' };
      return { accepted: true, sessionNo: session.sessionNo + 1, ...beginning };
    };
    return new Map(entries.map((entry) => [entry.agent.id, answer(entry)]));
  });
}

const idsOf = (entries: readonly HelloEntry[]): string[] => entries.map(({ agent }) => agent.id);

async function lockSessions(
  tx: EntityManager,
  entries: readonly HelloEntry[],
): Promise<ReadonlyMap<string, LockedSession>> {
  const rows = await tx.query<LockedSession[]>(
    `SELECT s.agent_id AS "agentId", a.state AS "agentState", s.session_no AS "sessionNo", s.instance_id AS "instanceId", s.state,
       s.inventory, coalesce(n.seen_at > now() - $2 * interval '1 millisecond', false) AS "isHeard"
     FROM agent_session AS s JOIN agent AS a ON a.id = s.agent_id LEFT JOIN agent_seen AS n ON n.agent_id = s.agent_id WHERE s.agent_id = ANY($1::uuid[])
     ORDER BY s.agent_id FOR NO KEY UPDATE OF s, a`,
    [idsOf(entries), LATE_AFTER_MS],
  );
  return new Map(rows.map((row) => [row.agentId, row]));
}

/** Of entries whose take-over is suspect. Returns the agents that are clones of each other. */
async function recordTakeOvers(
  tx: EntityManager,
  entries: readonly HelloEntry[],
  locked: ReadonlyMap<string, LockedSession>,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const newest = new Map<string, TakeOver>();
  for (const { agent, hello } of entries) {
    const previous = locked.get(agent.id);
    if (previous?.instanceId) newest.set(agent.id, { fromInstance: previous.instanceId, toInstance: hello.instanceId });
  }
  if (newest.size === 0) return new Set();
  const agentIds = [...newest.keys()];
  const takeOvers = [...newest.values()];
  await tx.query(
    `INSERT INTO agent_take_over (agent_id, at, from_instance, to_instance)
     SELECT i.agent_id, $2, i.from_instance, i.to_instance
     FROM unnest($1::uuid[], $3::text[], $4::text[]) AS i(agent_id, from_instance, to_instance)`,
    [agentIds, new Date(nowMs), takeOvers.map((one) => one.fromInstance), takeOvers.map((one) => one.toInstance)],
  );
  await tx.query('DELETE FROM agent_take_over WHERE agent_id = ANY($1::uuid[]) AND at < $2', [
    agentIds,
    new Date(nowMs - TAKE_OVER_WINDOW_MS),
  ]);
  const recent = await tx.query<(TakeOver & { agentId: string })[]>(
    `SELECT agent_id AS "agentId", from_instance AS "fromInstance", to_instance AS "toInstance" FROM agent_take_over
     WHERE agent_id = ANY($1::uuid[])`,
    [agentIds],
  );
  const byAgent = Map.groupBy(recent, (one) => one.agentId);
  return new Set([...newest].flatMap(([agentId, one]) => (isCloned(byAgent.get(agentId) ?? [], one) ? [agentId] : [])));
}

/** What an agent says of itself is written when it changed; its session always. */
async function writeSessions(
  tx: EntityManager,
  entries: readonly HelloEntry[],
  replica: string,
  nowMs: number,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ agent, hello, signedWith }) => ({
    agent_id: agent.id,
    instance_id: hello.instanceId,
    inventory: hello.inventory,
    version: hello.agentVersion,
    crd: hello.crdSchemaHash,
    capabilities: hello.capabilities,
    signed_with: signedWith.toString('hex'),
  }));
  await tx.query(
    `WITH i AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(agent_id uuid, instance_id text, inventory text, version text,
         crd text, capabilities jsonb, signed_with text)
     ), told AS (
       UPDATE agent AS a SET agent_version = i.version, crd_schema_hash = i.crd, capabilities = i.capabilities,
         previous_public_key = CASE WHEN a.public_key = decode(i.signed_with, 'hex') THEN NULL ELSE a.previous_public_key END
       FROM i WHERE a.id = i.agent_id AND (
         (a.agent_version, a.crd_schema_hash, a.capabilities) IS DISTINCT FROM (i.version, i.crd, i.capabilities)
         OR (a.previous_public_key IS NOT NULL AND a.public_key = decode(i.signed_with, 'hex')))
     ), seen AS (
       INSERT INTO agent_seen (agent_id, seen_at, verdict) SELECT agent_id, now(), 'FRESH' FROM i ORDER BY agent_id
       ON CONFLICT (agent_id) DO UPDATE SET seen_at = now(), verdict = 'FRESH'
     )
     UPDATE agent_session AS s SET session_no = s.session_no + 1, replica = $2, instance_id = i.instance_id,
       state = 'CONNECTED', inventory = i.inventory, connected_at = $3
     FROM i WHERE s.agent_id = i.agent_id`,
    [JSON.stringify(rows), replica, new Date(nowMs)],
  );
}

async function readBeginnings(
  tx: EntityManager,
  entries: readonly HelloEntry[],
): Promise<ReadonlyMap<string, Beginning>> {
  if (entries.length === 0) return new Map();
  const rows = await tx.query<
    (SpecHead & { agentId: string; lowestChange: number | null; unsettled: readonly string[] })[]
  >(
    `SELECT h.agent_id AS "agentId", h.revision, h.acked_revision AS "ackedRevision", h.digest,
       h.inventory_needed AS "inventoryNeeded",
       CASE WHEN h.revision > i.applied
         THEN (SELECT min(c.revision) FROM desired_change AS c WHERE c.agent_id = h.agent_id) END AS "lowestChange",
       ARRAY(SELECT d.hub_uid FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid
         WHERE r.agent_id = h.agent_id AND (r.deletion IS NOT NULL OR d.state IN ('PENDING', 'CONFLICT')
           OR (d.state IN ('REJECTED', 'WAITING') AND (d.retryable IS NOT FALSE OR d.next_attempt_at <= now()))
           OR (d.state = 'DELETED_LOCALLY' AND d.next_attempt_at <= now()) OR d.code = 'CRD_TOO_OLD')
         ORDER BY d.hub_uid)::text[] AS unsettled
     FROM unnest($1::uuid[], $2::bigint[]) AS i(agent_id, applied) JOIN agent_spec_head AS h ON h.agent_id = i.agent_id`,
    [idsOf(entries), entries.map(({ hello }) => hello.appliedRevision)],
  );
  return new Map(
    rows.map(({ agentId, lowestChange, unsettled, ...head }) => [
      agentId,
      { head: lowestChange === null ? head : { ...head, oldestChange: lowestChange }, unsettled },
    ]),
  );
}
