/**
 * What an agent's outcome of one object means for its delivery. Invariants: only an outcome of the current generation
 * changes the state shown; whatever was written (APPLIED, CONFLICT) is counted in the digest, also when a newer
 * generation has been made meanwhile; only a tombstone's ack lets the hub's row go. Without the second the two digests
 * would differ for ever after an ack that crossed a new generation.
 */
import type { DeliveryState } from '#domain';
import type { ObjectOutcome } from '#protocol';

export interface DeliveryRow {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly specHash: string;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  /** The delete waits for a person: what was said of it before is no news, and must not hide why it waits. */
  readonly isHeld: boolean;
  readonly state: DeliveryState;
  /** GENERATION_AHEAD: held until a person has saved; the agent's refusals of what it is told meanwhile are no news. */
  readonly code: string | null;
  readonly attempts: number;
  readonly appliedGeneration: number | null;
  readonly appliedHash: string | null;
}

export interface Applied {
  readonly generation: number;
  readonly hash: string;
}

export interface DeliveryChange {
  readonly state: DeliveryState;
  readonly code: string | null;
  readonly message: string | null;
  readonly retryable: boolean | null;
  readonly attempts: number;
  /** From now; null: not before the next session. */
  readonly nextAttemptInMs: number | null;
  readonly contested: ObjectOutcome['contested'] | null;
}

export interface Booking {
  /** What the digest counts from now on: null nothing, undefined as before. */
  readonly applied?: Applied | null;
  /** Undefined: the state shown stays, the outcome is about an older generation. */
  readonly change?: DeliveryChange;
  /** The hub's row goes. */
  readonly remove?: true;
  /** The same spec is sent again under a new generation. */
  readonly reissue?: true;
  /** Both sides must be compared. */
  readonly compare?: true;
}

/** The agent tries again by itself what waits; the hub's pauses are for what it would forget. */
const RETRY_BASE_MS = 15_000;
const RETRY_MAX_MS = 300_000;
/** For refusals that a retry cannot mend: something outside may have changed all the same. */
const HOPELESS_BASE_MS = 60_000;
const HOPELESS_MAX_MS = 3_600_000;

/** The pause after the n-th fruitless attempt, from 1. */
export function pauseAfterAttempt(attempts: number, retryable: boolean): number {
  const [base, max] = retryable ? [RETRY_BASE_MS, RETRY_MAX_MS] : [HOPELESS_BASE_MS, HOPELESS_MAX_MS];
  return Math.min(max, base * 2 ** Math.min(attempts - 1, 10));
}

/** `sent`: the version of this object sent last in the session, for outcomes that carry no hash. */
export function bookOutcome(row: DeliveryRow, outcome: ObjectOutcome, sent: Applied | undefined): Booking {
  switch (outcome.state) {
    case 'DELETED':
    case 'ORPHANED':
      return row.deletion === null ? { compare: true } : { remove: true };
    case 'DELETED_LOCALLY':
      return { applied: null, ...changeIfCurrent(row, outcome, 'DELETED_LOCALLY') };
    case 'APPLIED':
    case 'CONFLICT':
      return bookWritten(row, outcome, outcome.state, sent);
    case 'REJECTED':
    case 'WAITING':
      return bookRefused(row, outcome, outcome.state);
  }
}

function bookWritten(
  row: DeliveryRow,
  outcome: ObjectOutcome,
  state: 'APPLIED' | 'CONFLICT',
  sent: Applied | undefined,
): Booking {
  const applied = findApplied(row, outcome, sent);
  const change = changeIfCurrent(row, outcome, state);
  if (!applied) return { compare: true, ...change };
  return isStrange(row, applied) ? { applied, compare: true, ...change } : { applied, ...change };
}

/** Written, it says, but this hub never made that: a generation to come, or the current one with another hash. */
const isStrange = (row: DeliveryRow, { generation, hash }: Applied): boolean =>
  generation > row.hubGeneration || (generation === row.hubGeneration && hash !== row.specHash);

function bookRefused(row: DeliveryRow, outcome: ObjectOutcome, state: 'REJECTED' | 'WAITING'): Booking {
  if (row.code === 'GENERATION_AHEAD' || row.isHeld) return {};
  const change = changeIfCurrent(row, outcome, state);
  if (outcome.code === 'GENERATION_AHEAD') return { compare: true, ...change };
  const isCurrent = outcome.hubGeneration === row.hubGeneration;
  return outcome.code === 'GENERATION_REUSED' && isCurrent ? { reissue: true } : change;
}

function findApplied(row: DeliveryRow, outcome: ObjectOutcome, sent: Applied | undefined): Applied | undefined {
  const generation = outcome.hubGeneration;
  if (outcome.specHash) return { generation, hash: outcome.specHash };
  if (generation === row.hubGeneration) return { generation, hash: row.specHash };
  return sent?.generation === generation ? sent : undefined;
}

/** A tombstone has no generation; while one waits, outcomes of upserts sent before it say nothing about it. */
const isAboutNow = (row: DeliveryRow, outcome: ObjectOutcome): boolean =>
  outcome.hubGeneration === (row.deletion === null ? row.hubGeneration : 0);

function changeIfCurrent(row: DeliveryRow, outcome: ObjectOutcome, state: DeliveryState): { change?: DeliveryChange } {
  if (!isAboutNow(row, outcome)) return {};
  const told = { state, code: outcome.code ?? null, message: outcome.message ?? null };
  if (state === 'REJECTED' || state === 'WAITING') {
    const retryable = outcome.retryable ?? state === 'WAITING';
    const attempts = row.attempts + 1;
    const nextAttemptInMs = pauseAfterAttempt(attempts, retryable);
    return { change: { ...told, retryable, attempts, nextAttemptInMs, contested: null } };
  }
  const contested = state === 'CONFLICT' ? (outcome.contested ?? []) : null;
  return { change: { ...told, retryable: null, attempts: 0, nextAttemptInMs: null, contested } };
}
