/** Builds the outcomes of a DesiredAck. */
import type { ErrorCode } from '#domain';
import type { ObjectOutcome } from '#protocol';

/** The part of an upsert or tombstone that an outcome names; a tombstone has no generation and is told as 0. */
export interface OutcomeTarget {
  readonly hubUid: string;
  readonly hubGeneration?: number;
}

export interface OutcomeReason {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly retryable?: boolean;
}

export const outcomeOf = (
  target: OutcomeTarget,
  state: ObjectOutcome['state'],
  reason?: OutcomeReason,
): ObjectOutcome => ({
  hubUid: target.hubUid,
  hubGeneration: target.hubGeneration ?? 0,
  state,
  ...(reason ?? {}),
});

/** Refused for a reason that no retry mends. */
export const rejected = (target: OutcomeTarget, code: ErrorCode, message: string): ObjectOutcome =>
  outcomeOf(target, 'REJECTED', { code, message, retryable: false });

/** Not yet possible; the agent tries again by itself and says so when it has changed. */
export const waiting = (target: OutcomeTarget, code: ErrorCode, message: string): ObjectOutcome =>
  outcomeOf(target, 'WAITING', { code, message, retryable: true });
