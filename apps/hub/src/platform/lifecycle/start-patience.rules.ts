/**
 * How long a starting hub goes on asking for its database: what may pass by itself is tried again with growing pauses, for a
 * minute in all. Only the time of attempts that failed and of the pauses counts, so that a migration which rightly takes an
 * hour leaves its successors their minute. Pauses are spread: replicas that start together after an outage would else come
 * back together, and to a database without free connections that is the same as not waiting.
 */
const TOTAL_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** An attempt that fails later than this was at work before: that time was not spent in vain. */
const MAX_ATTEMPT_MS = 20_000;

export interface Spent {
  /** Attempts and pauses until now. */
  readonly ms: number;
  /** Failures in a row. */
  readonly failures: number;
}

export const NOTHING_SPENT: Spent = { ms: 0, failures: 0 };

/** `random`: 0 to 1. GIVE_UP when the pause would be longer than the time that is left. */
export function planRetry(
  spent: Spent,
  attemptMs: number,
  random: number,
): { readonly pauseMs: number; readonly leftMs: number; readonly spent: Spent } | 'GIVE_UP' {
  const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(spent.failures, 10));
  const pauseMs = Math.round(longest * (0.5 + random / 2));
  const ms = spent.ms + Math.min(attemptMs, MAX_ATTEMPT_MS) + pauseMs;
  if (ms > TOTAL_MS) return 'GIVE_UP';
  return { pauseMs, leftMs: Math.round(TOTAL_MS - ms), spent: { ms, failures: spent.failures + 1 } };
}
