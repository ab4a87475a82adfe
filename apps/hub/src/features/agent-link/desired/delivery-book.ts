/**
 * Books a DesiredAck: delivery states, what the digest counts, the end of tombstones, and the acked revision, all in one
 * transaction fenced by session_no. The spec head is locked first, as a mutation does it: another order would deadlock
 * with it.
 */
import { addToDigest, type DesiredAck, type ObjectOutcome, removeFromDigest } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges, type Change } from '../../../platform/database/change-log.ts';
import { changeDesired } from './change-desired.ts';
import { type Applied, bookOutcome, type Booking, type DeliveryRow } from './outcome.rules.ts';
import { holdsSession, type SessionKey } from '../sessions/session-key.ts';

export interface BookResult {
  /** The session was taken over: nothing was booked. */
  readonly fenced: boolean;
  /** Why both sides must be compared, when they must. */
  readonly compareReason?: string;
}

type LockedRow = DeliveryRow & { readonly projectId: string; readonly toldUid: string | null };
interface Step {
  readonly row: LockedRow;
  readonly outcome: ObjectOutcome;
  readonly booking: Booking;
}

export class DeliveryBook {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** `sent`: versions sent last, by hubUid. `comparable`: the agent's inventory is SYNCED, so its digest counts. */
  book(
    session: SessionKey,
    ack: DesiredAck,
    sent: ReadonlyMap<string, Applied>,
    about: { readonly comparable: boolean; readonly nowMs: number },
  ): Promise<BookResult> {
    return this.#dataSource.transaction(async (tx) => {
      const head = await lockHead(tx, session.agentId);
      if (!(await holdsSession(tx, session))) return { fenced: true };
      const locked = await lockResources(tx, session.agentId, ack.outcomes);
      const steps = await decideSteps(tx, locked, ack.outcomes, sent);
      const digest = steps.reduce(countStep, head.digest);
      await writeSteps(tx, session.agentId, steps, about.nowMs);
      const compareReason = findCompareReason(steps, about.comparable && digest !== ack.digest);
      await tx.query(
        `UPDATE agent_spec_head SET digest = $2, acked_revision = greatest(acked_revision, least($3, revision)),
           inventory_needed = inventory_needed OR $4, inventory_reason = coalesce($5, inventory_reason) WHERE agent_id = $1`,
        [session.agentId, digest, ack.revision, compareReason !== undefined, compareReason ?? null],
      );
      return { fenced: false, ...(compareReason ? { compareReason } : {}) };
    });
  }
}

const DELIVERY_COLUMNS = `r.hub_uid AS "hubUid", r.project_id AS "projectId", r.hub_generation AS "hubGeneration",
  r.spec_hash AS "specHash", r.deletion, r.told_uid AS "toldUid",
  (r.deletion = 'DELETE' AND r.deletion_held_at IS NOT NULL) IS TRUE AS "isHeld", d.state, d.code, d.attempts, d.applied_generation AS "appliedGeneration",
  d.applied_hash AS "appliedHash"`;

async function lockResources(
  tx: EntityManager,
  agentId: string,
  outcomes: readonly ObjectOutcome[],
): Promise<string[]> {
  const rows = await tx.query<{ hubUid: string }[]>(
    `SELECT hub_uid AS "hubUid" FROM resource WHERE agent_id = $1 AND hub_uid::text = ANY($2::text[])
     ORDER BY hub_uid FOR NO KEY UPDATE`,
    [agentId, outcomes.map((outcome) => outcome.hubUid)],
  );
  return rows.map((row) => row.hubUid);
}

export async function lockHead(tx: EntityManager, agentId: string): Promise<{ digest: string }> {
  const rows = await tx.query<
    {
      digest: string;
    }[]
  >('SELECT digest FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);
  if (!rows[0]) throw new Error(`agent ${agentId} has no spec head`);
  return rows[0];
}

async function decideSteps(
  tx: EntityManager,
  hubUids: readonly string[],
  outcomes: readonly ObjectOutcome[],
  sent: ReadonlyMap<string, Applied>,
): Promise<readonly Step[]> {
  const rows = await tx.query<LockedRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid
     WHERE r.hub_uid = ANY($1::uuid[])`,
    [hubUids],
  );
  const byUid = new Map(rows.map((row) => [row.hubUid, row]));
  // One object may be named twice; the last word counts.
  const last = new Map(outcomes.map((outcome) => [outcome.hubUid, outcome]));
  return [...last.values()].flatMap((outcome) => {
    const row = byUid.get(outcome.hubUid);
    return row ? [{ row, outcome, booking: bookOutcome(row, outcome, sent.get(outcome.hubUid)) }] : [];
  });
}

/** The digest after one step: out with what was counted of this object, in with what is now. */
function countStep(digest: string, { row, booking }: Step): string {
  const applied = booking.remove ? null : booking.applied;
  if (applied === undefined) return digest;
  const { hubUid, appliedGeneration, appliedHash } = row;
  const without =
    appliedGeneration !== null && appliedHash !== null
      ? removeFromDigest(digest, { hubUid, hubGeneration: appliedGeneration, specHash: appliedHash })
      : digest;
  return applied
    ? addToDigest(without, { hubUid, hubGeneration: applied.generation, specHash: applied.hash })
    : without;
}

async function writeSteps(tx: EntityManager, agentId: string, steps: readonly Step[], nowMs: number): Promise<void> {
  await writeDeliveries(tx, steps, nowMs);
  await writeResources(tx, steps);
  const removed = steps.filter(({ booking }) => booking.remove);
  if (removed.length > 0) {
    await tx.query('DELETE FROM resource WHERE hub_uid = ANY($1::uuid[])', [removed.map(({ row }) => row.hubUid)]);
  }
  for (const { row } of steps.filter(({ booking }) => booking.reissue)) {
    await tx.query('UPDATE resource SET hub_generation = hub_generation + 1 WHERE hub_uid = $1', [row.hubUid]);
    await changeDesired(tx, agentId, row.hubUid, 'UPSERT');
  }
  await appendChanges(tx, nowMs, steps.flatMap(toChange));
}

/** What was written needs no leave to be created any more; and by which uid the agent knows the object is kept for its delete. */
async function writeResources(tx: EntityManager, steps: readonly Step[]): Promise<void> {
  const items = steps
    .map(({ row, outcome, booking }) => ({
      hub_uid: row.hubUid,
      written: Boolean(booking.applied) && outcome.hubGeneration === row.hubGeneration,
      uid: outcome.uid === row.toldUid ? undefined : outcome.uid,
    }))
    .filter(({ written, uid }) => written || uid !== undefined);
  if (items.length === 0) return;
  await tx.query(
    `UPDATE resource AS r SET told_uid = coalesce(i.uid, r.told_uid), create_allowed = r.create_allowed AND NOT i.written,
       revert_fields = CASE WHEN NOT i.written THEN r.revert_fields END
     FROM jsonb_to_recordset($1::jsonb) AS i(hub_uid uuid, written boolean, uid text)
     WHERE r.hub_uid = i.hub_uid AND (i.uid IS NOT NULL OR r.create_allowed OR r.revert_fields IS NOT NULL)`,
    [JSON.stringify(items)],
  );
}

async function writeDeliveries(tx: EntityManager, steps: readonly Step[], nowMs: number): Promise<void> {
  const items = steps
    .filter(({ booking }) => booking.applied !== undefined || booking.change !== undefined)
    .map(({ row, booking: { applied, change } }) => ({
      hub_uid: row.hubUid,
      set_applied: applied !== undefined,
      applied_generation: applied?.generation ?? null,
      applied_hash: applied?.hash ?? null,
      set_state: change !== undefined,
      ...change,
      next_attempt_in_ms: change?.nextAttemptInMs ?? null,
    }));
  if (items.length === 0) return;
  await tx.query(
    `UPDATE delivery AS d SET updated_at = $2,
       applied_generation = CASE WHEN i.set_applied THEN i.applied_generation ELSE d.applied_generation END,
       applied_hash = CASE WHEN i.set_applied THEN i.applied_hash ELSE d.applied_hash END,
       state = CASE WHEN i.set_state THEN i.state ELSE d.state END,
       code = CASE WHEN i.set_state THEN i.code ELSE d.code END,
       message = CASE WHEN i.set_state THEN i.message ELSE d.message END,
       retryable = CASE WHEN i.set_state THEN i.retryable ELSE d.retryable END,
       attempts = CASE WHEN i.set_state THEN i.attempts ELSE d.attempts END,
       next_attempt_at = CASE WHEN i.set_state THEN now() + i.next_attempt_in_ms * interval '1 millisecond' ELSE d.next_attempt_at END,
       contested = CASE WHEN i.set_state THEN i.contested ELSE d.contested END
     FROM jsonb_to_recordset($1::jsonb) AS i(hub_uid uuid, set_applied boolean, applied_generation bigint, applied_hash text,
       set_state boolean, state text, code text, message text, retryable boolean, attempts int, next_attempt_in_ms bigint,
       contested jsonb)
     WHERE d.hub_uid = i.hub_uid`,
    [JSON.stringify(items), new Date(nowMs)],
  );
}

function toChange({ row, booking }: Step): Change[] {
  const base = { topic: 'redisCluster', subject: row.hubUid, projectId: row.projectId } as const;
  if (booking.remove) return [{ ...base, kind: 'DELETED' }];
  return booking.change || booking.applied || booking.reissue ? [{ ...base, kind: 'CHANGED' }] : [];
}

function findCompareReason(steps: readonly Step[], digestDiffers: boolean): string | undefined {
  if (steps.some(({ booking }) => booking.compare)) return 'OUTCOME_UNEXPECTED';
  return digestDiffers ? 'DIGEST_DIFFERS' : undefined;
}
