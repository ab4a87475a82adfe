/**
 * Writes what agents report: status, counts, local objects, and the change log, in one transaction for all batches of a
 * commit. Order is (session_no, counter), never a clock: a late batch of an older session changes nothing.
 */
import type { Clock } from '#domain';
import { removeFromDigest } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { admitLocal } from './agent-limits.repository.ts';
import { joinRows, toBoundRow } from './bound-rows.ts';
import { collectGuests, findPermitted, type GuestRow, lockStatuses, writeGuests } from './guest-numbers.ts';
import { findInSync, UNREPORTED_HASH } from './status-digest.ts';
import { claimHeads, confirmStatus } from './status-heads.ts';
import type { AgentLimit } from './over-limit-teller.ts';
import type { StatusEntry, StatusVerdicts, StatusWriter } from './status-entry.ts';
import {
  findLocallyDeleted,
  findReturned,
  isCountedElsewhere,
  type KnownResource,
  type ManagedItem,
  namedHubUids,
  type ReportedItem,
  rollupKey,
  sortStatus,
} from './status.rules.ts';
import { type NamedObject, noteUnstored } from './unstored-status.ts';
import { toLocalRow, toStatusRow, UPSERT_LOCAL, UPSERT_STATUS } from './status-rows.ts';

/** Told of what an agent has too much of. */
export type NoteOverLimit = (agentId: string, limit: AgentLimit, count: number) => void;

interface Writing {
  readonly nowMs: number;
  readonly note: NoteOverLimit;
}

export class StatusRepository implements StatusWriter {
  readonly #dataSource: DataSource;
  readonly #clock: Clock;
  readonly #onOverLimit: NoteOverLimit;

  constructor(dataSource: DataSource, clock: Clock, onOverLimit: NoteOverLimit = () => undefined) {
    this.#dataSource = dataSource;
    this.#clock = clock;
    this.#onOverLimit = onOverLimit;
  }

  async commit(entries: readonly StatusEntry[]): Promise<StatusVerdicts> {
    const notes: Parameters<NoteOverLimit>[] = [];
    const verdicts = await this.#write(entries, {
      nowMs: this.#clock.nowMs(),
      note: (...note) => void notes.push(note),
    });
    for (const note of notes) this.#onOverLimit(...note);
    return verdicts;
  }

  #write(entries: readonly StatusEntry[], writing: Writing): Promise<StatusVerdicts> {
    const { nowMs } = writing;
    return this.#dataSource.transaction(async (tx) => {
      const { valid, fenced, behind } = await claimHeads(tx, entries);
      // Compared as stored before this commit: what follows the digest was changed after it was taken.
      const inSync = await findInSync(tx, valid);
      if (inSync.size > 0) await confirmStatus(tx, inSync, nowMs);
      const { managed, local } = sortStatus(valid, await readKnown(tx, namedHubUids(valid)));
      const guests = await findPermitted(tx, collectGuests(valid));
      if (managed.length > 0) await writeManaged(tx, managed, guests, writing);
      else if (guests.length > 0) await lockStatuses(tx, hubUidsOf(guests));
      if (guests.length > 0) await writeGuests(tx, guests);
      if (local.length > 0) await writeLocal(tx, local, writing);
      await forgetUnreported(tx, valid);
      return { fenced, behind, inSync };
    });
  }

  noteUnstored(agentId: string, objects: readonly NamedObject[], reason: string): Promise<void> {
    return noteUnstored(this.#dataSource, agentId, { objects, reason, nowMs: this.#clock.nowMs() });
  }
}

async function readKnown(tx: EntityManager, hubUids: readonly string[]): Promise<ReadonlyMap<string, KnownResource>> {
  if (hubUids.length === 0) return new Map();
  const rows = await tx.query<KnownResource[]>(
    `SELECT r.hub_uid AS "hubUid", r.agent_id AS "agentId", r.project_id AS "projectId", r.namespace, r.name, r.deletion,
       d.state AS "deliveryState", s.status_hash AS "statusHash", e.mode, e.version, e.phase
     FROM resource AS r JOIN delivery AS d ON d.hub_uid = r.hub_uid LEFT JOIN resource_status AS s ON s.hub_uid = r.hub_uid
       LEFT JOIN rollup_entry AS e ON e.hub_uid = r.hub_uid
     WHERE r.hub_uid = ANY($1::uuid[]) AND r.deleted_at IS NULL`,
    [hubUids],
  );
  return new Map(rows.map((row) => [row.hubUid, row]));
}

const hubUidsOf = (guests: readonly GuestRow[]): readonly string[] => guests.map(({ guest }) => guest.hubUid);

async function writeManaged(
  tx: EntityManager,
  managed: readonly ManagedItem[],
  guests: readonly GuestRow[],
  { nowMs, note }: Writing,
): Promise<void> {
  await bookLocalDeletions(tx, findLocallyDeleted(managed), nowMs);
  await askAgain(tx, findReturned(managed));
  if (guests.length > 0) {
    await lockStatuses(tx, [...managed.map(({ known }) => known.hubUid), ...hubUidsOf(guests)]);
  }
  const bound = managed.map((one) => toBoundRow(one, toStatusRow));
  for (const { one } of bound.filter(({ isCut }) => isCut)) note(one.agentId, 'ITEM_BYTES', 1);
  const rows = await tx.query<{ hubUid: string }[]>(UPSERT_STATUS, [joinRows(bound), new Date(nowMs)]);
  const hubUids = new Set(rows.map((row) => row.hubUid));
  const written = managed.filter(({ known }) => hubUids.has(known.hubUid));
  await countAnew(tx, written.filter(isCountedElsewhere));
  await appendChanges(
    tx,
    nowMs,
    written
      .filter(({ known, hash }) => known.statusHash !== hash)
      .map(({ known: { hubUid, projectId } }) => ({
        topic: 'redisCluster',
        subject: hubUid,
        projectId,
        kind: 'CHANGED',
      })),
  );
}

/**
 * The member cluster's own users deleted it: the hub neither recreates nor counts it until somebody says Recreate. Locks
 * as a mutation takes them: spec heads, then resources.
 */
async function bookLocalDeletions(tx: EntityManager, items: readonly ManagedItem[], nowMs: number): Promise<void> {
  if (items.length === 0) return;
  const hubUids = items.map(({ known }) => known.hubUid);
  const heads = await tx.query<{ agentId: string; digest: string }[]>(
    'SELECT agent_id AS "agentId", digest FROM agent_spec_head WHERE agent_id = ANY($1::uuid[]) ORDER BY agent_id FOR UPDATE',
    [[...new Set(items.map(({ agentId }) => agentId))]],
  );
  await tx.query('SELECT 1 FROM resource WHERE hub_uid = ANY($1::uuid[]) ORDER BY hub_uid FOR NO KEY UPDATE', [
    hubUids,
  ]);
  const rows = await tx.query<{ hubUid: string; agentId: string; hubGeneration: number; specHash: string }[]>(
    `SELECT d.hub_uid AS "hubUid", r.agent_id AS "agentId", d.applied_generation AS "hubGeneration", d.applied_hash AS "specHash"
     FROM delivery AS d JOIN resource AS r ON r.hub_uid = d.hub_uid
     WHERE d.hub_uid = ANY($1::uuid[]) AND r.deletion IS NULL AND NOT r.create_allowed AND d.applied_hash IS NOT NULL`,
    [hubUids],
  );
  for (const head of heads) {
    const digest = rows.filter((row) => row.agentId === head.agentId).reduce(removeFromDigest, head.digest);
    await tx.query('UPDATE agent_spec_head SET digest = $2 WHERE agent_id = $1', [head.agentId, digest]);
  }
  await tx.query(
    `UPDATE delivery SET state = 'DELETED_LOCALLY', code = 'DELETED_LOCALLY', message = 'deleted in the member cluster',
       retryable = NULL, next_attempt_at = NULL, applied_generation = NULL, applied_hash = NULL, contested = NULL, updated_at = $2
     WHERE hub_uid = ANY($1::uuid[])`,
    [rows.map((row) => row.hubUid), new Date(nowMs)],
  );
}

/** Somebody brought it back by hand: it is sent once more, and its ack says what it is now. */
async function askAgain(tx: EntityManager, items: readonly ManagedItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `UPDATE delivery SET next_attempt_at = now() WHERE hub_uid = ANY($1::uuid[]) AND state = 'DELETED_LOCALLY'
       AND next_attempt_at IS NULL`,
    [items.map(({ known }) => known.hubUid)],
  );
}

/** Only for those counted under another key: each statement here runs the triggers that keep `agent_rollup`. */
async function countAnew(tx: EntityManager, items: readonly ManagedItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `INSERT INTO rollup_entry AS e (hub_uid, agent_id, project_id, mode, version, phase)
     SELECT * FROM jsonb_to_recordset($1::jsonb)
       AS i(hub_uid uuid, agent_id uuid, project_id uuid, mode text, version text, phase text)
     ON CONFLICT (hub_uid) DO UPDATE SET mode = excluded.mode, version = excluded.version, phase = excluded.phase
     WHERE (e.mode, e.version, e.phase) IS DISTINCT FROM (excluded.mode, excluded.version, excluded.phase)`,
    [
      JSON.stringify(
        items.map(({ item, known }) => ({
          hub_uid: known.hubUid,
          agent_id: known.agentId,
          project_id: known.projectId,
          ...rollupKey(item),
        })),
      ),
    ],
  );
}

async function writeLocal(tx: EntityManager, local: readonly ReportedItem[], writing: Writing): Promise<void> {
  const gone = local.filter(({ item }) => item.gone);
  const present = local.filter(({ item }) => !item.gone);
  if (gone.length > 0) {
    await tx.query(
      `DELETE FROM local_object AS l USING jsonb_to_recordset($1::jsonb)
         AS i(agent_id uuid, kind text, namespace text, name text)
       WHERE (l.agent_id, l.kind, l.namespace, l.name) = (i.agent_id, i.kind, i.namespace, i.name)`,
      [JSON.stringify(gone.map(toLocalRow))],
    );
  }
  if (present.length > 0) await writePresent(tx, present, writing);
}

/** As many of them as the hub keeps of their agent. */
async function writePresent(
  tx: EntityManager,
  local: readonly ReportedItem[],
  { nowMs, note }: Writing,
): Promise<void> {
  const bound = local.map((one) => toBoundRow(one, toLocalRow));
  for (const { one } of bound.filter(({ isCut }) => isCut)) note(one.agentId, 'ITEM_BYTES', 1);
  const candidates = bound.map(({ one: { item, agentId, sessionNo }, text, bytes }) => {
    const { kind, namespace, name } = item;
    return { agentId, sessionNo, kind, namespace, name, bytes, text };
  });
  const admitted = await admitLocal(tx, candidates);
  for (const [agentId, all] of Map.groupBy(candidates, (one) => one.agentId)) {
    const left = all.length - admitted.filter((one) => one.agentId === agentId).length;
    if (left > 0) note(agentId, 'LOCAL_OBJECTS', left);
  }
  if (admitted.length > 0) await tx.query(UPSERT_LOCAL, [joinRows(admitted), new Date(nowMs)]);
}

/**
 * Full resends have ended: local objects that they did not name are not there any more. Wanted ones are never judged so;
 * they stay as they were last seen, and count as nothing when the agent proves what it holds.
 */
async function forgetUnreported(tx: EntityManager, entries: readonly StatusEntry[]): Promise<void> {
  const ended = entries.filter(({ batch }) => batch.complete && batch.inventory !== 'UNKNOWN');
  if (ended.length === 0) return;
  const sessions = [ended.map(({ session }) => session.agentId), ended.map(({ session }) => session.sessionNo)];
  await tx.query(
    `DELETE FROM local_object AS l USING unnest($1::uuid[], $2::bigint[]) AS i(agent_id, session_no)
     WHERE l.agent_id = i.agent_id AND l.session_no < i.session_no`,
    sessions,
  );
  await tx.query(
    `UPDATE resource_status AS s SET status_hash = $3
     FROM resource AS r JOIN unnest($1::uuid[], $2::bigint[]) AS i(agent_id, session_no) ON i.agent_id = r.agent_id
     WHERE s.hub_uid = r.hub_uid AND s.session_no < i.session_no AND s.status_hash <> $3 AND NOT s.gone`,
    [...sessions, UNREPORTED_HASH],
  );
}
