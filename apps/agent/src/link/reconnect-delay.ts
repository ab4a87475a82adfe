/**
 * How long to wait before the next dial, from how the last session ended. Full jitter from 1 s, growing to 20 s in the first
 * ten minutes without a hub and to 60 s after that (03 rule 13): a hub that comes back meets its agents spread
 * out, and still has all of them within 20 s. What the hub asked for comes first.
 */
import type { SessionEnd } from './session-end.ts';

const SHORTEST_MS = 1_000;
const FIRST_CAP_MS = 4_000;
const CAP_MS = 20_000;
const LATE_CAP_MS = 60_000;
const LATE_AFTER_MS = 10 * 60_000;
/** A refusal that a person must mend. */
const TERMINAL_MS = 60_000;

export interface Outage {
  /** Sessions in a row that got no Welcome. */
  readonly failures: number;
  /** Since the last Welcome, or since the start. */
  readonly awayMs: number;
}

/** Milliseconds; `random` is from 0 to below 1. */
export function reconnectDelayMs(end: SessionEnd, outage: Outage, random: number): number {
  switch (end.kind) {
    case 'ENROLLED':
      return 0;
    case 'PENDING':
    case 'ASKED':
      return end.afterMs;
    case 'STUCK':
      return TERMINAL_MS * (0.8 + 0.4 * random);
    case 'TAKEN_OVER':
    case 'LOST': {
      const cap = outage.awayMs >= LATE_AFTER_MS ? LATE_CAP_MS : Math.min(CAP_MS, FIRST_CAP_MS * 2 ** outage.failures);
      return SHORTEST_MS + random * (cap - SHORTEST_MS);
    }
  }
}
