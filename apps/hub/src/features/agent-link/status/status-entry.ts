/** One batch of one session on its way into the database, and what becomes of it. */
import type { StatusBatch } from '#protocol';

import { type SessionKey, sessionKeyOf } from '../sessions/session-key.ts';
import type { NamedObject } from './unstored-status.ts';

export interface StatusEntry {
  readonly session: SessionKey;
  readonly batch: StatusBatch;
}
/**
 * IN_SYNC: its statusDigest is that of what is stored. BEHIND: committed, but the database lost what this session had told
 * before. POISONED: all but what cannot be stored.
 */
export type StatusResult = 'COMMITTED' | 'IN_SYNC' | 'BEHIND' | 'FENCED' | 'POISONED';

export interface StatusVerdicts {
  /** Keys of sessions (see `sessionKeyOf`) that are not their agents' any more: nothing of theirs was written. */
  readonly fenced: ReadonlySet<string>;
  /** Keys of sessions of which something acked before is not stored. */
  readonly behind: ReadonlySet<string>;
  /** Agents that proved that what is stored is what they hold. */
  readonly inSync: ReadonlySet<string>;
}

export interface StatusWriter {
  /** Commits all or nothing. */
  commit(entries: readonly StatusEntry[]): Promise<StatusVerdicts>;
  /** What is stored of these objects is not their last status. `reason`: an SQLSTATE, or UNREADABLE. */
  noteUnstored(agentId: string, objects: readonly NamedObject[], reason: string): Promise<void>;
}

/** `told`: sessions that were already told to be behind, once a commit. */
export function resultOf({ session, batch }: StatusEntry, verdicts: StatusVerdicts, told: Set<string>): StatusResult {
  const key = sessionKeyOf(session);
  if (verdicts.fenced.has(key)) return 'FENCED';
  if (verdicts.behind.has(key) && !told.has(key)) {
    told.add(key);
    return 'BEHIND';
  }
  return batch.statusDigest !== undefined && verdicts.inSync.has(session.agentId) ? 'IN_SYNC' : 'COMMITTED';
}
