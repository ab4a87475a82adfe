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

const RETRY_BASE_MS = 5_000;
const RETRY_MAX_MS = 60_000;
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
    case 'CONFLICT': {
      const applied = findApplied(row, outcome, sent);
      const change = changeIfCurrent(row, outcome, outcome.state);
      return applied ? { applied, ...change } : { compare: true, ...change };
    }
    case 'REJECTED':
    case 'WAITING':
      if (row.code === 'GENERATION_AHEAD') return {};
      if (outcome.code === 'GENERATION_REUSED' && outcome.hubGeneration === row.hubGeneration) return { reissue: true };
      if (outcome.code === 'GENERATION_AHEAD')
        return { compare: true, ...changeIfCurrent(row, outcome, outcome.state) };
      return changeIfCurrent(row, outcome, outcome.state);
  }
}

function findApplied(row: DeliveryRow, outcome: ObjectOutcome, sent: Applied | undefined): Applied | undefined {
  const generation = outcome.hubGeneration;
  if (outcome.specHash) return { generation, hash: outcome.specHash };
  if (generation === row.hubGeneration) return { generation, hash: row.specHash };
  return sent?.generation === generation ? sent : undefined;
}

function changeIfCurrent(row: DeliveryRow, outcome: ObjectOutcome, state: DeliveryState): { change?: DeliveryChange } {
  const isTombstone = row.deletion !== null;
  // A tombstone has no generation; while one waits, outcomes of upserts sent before it say nothing about it.
  if (isTombstone ? outcome.hubGeneration !== 0 : outcome.hubGeneration !== row.hubGeneration) return {};
  const settled = state === 'APPLIED' || state === 'DELETED_LOCALLY' || state === 'CONFLICT';
  const retryable = outcome.retryable ?? state === 'WAITING';
  const attempts = settled ? 0 : row.attempts + 1;
  return {
    change: {
      state,
      code: outcome.code ?? null,
      message: outcome.message ?? null,
      retryable: settled ? null : retryable,
      attempts,
      nextAttemptInMs: settled ? null : pauseAfterAttempt(attempts, retryable),
      contested: state === 'CONFLICT' ? (outcome.contested ?? []) : null,
    },
  };
}
