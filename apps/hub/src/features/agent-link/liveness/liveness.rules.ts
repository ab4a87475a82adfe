/**
 * How fresh what an agent said is, on the database's clock alone (03 rule 11). A hub that was itself away must not
 * judge: after a pause of the judging, nothing gets worse for as long as an agent may take to be heard again. And no look
 * condemns a large part of the fleet at once: that is the hub's fault far more often than the fleet's.
 */
import { DISCONNECTED_AFTER_MS, type Freshness, LATE_AFTER_MS } from '#domain';

/** The judging itself was away when two looks are further apart. */
export const PULSE_GAP_MS = 15_000;
export const GRACE_MS = DISCONNECTED_AFTER_MS;
/** A mass verdict (above this share of the fleet) needs a second look this much later. */
export const MASS_SHARE = 0.2;
export const MASS_MIN_AGENTS = 5;
export const SECOND_LOOK_MS = 15_000;
/** Silence that counts as recent, and so as of one cause. */
export const MASS_WINDOW_MS = DISCONNECTED_AFTER_MS + 60_000;

const ORDER: Readonly<Record<Freshness, number>> = { FRESH: 0, LATE: 1, UNKNOWN: 2 };

export interface SeenRow {
  readonly agentId: string;
  readonly verdict: Freshness;
  readonly ageMs: number;
}
export interface NewVerdict {
  readonly agentId: string;
  readonly verdict: Freshness;
}

export function judge(ageMs: number): Freshness {
  if (ageMs >= DISCONNECTED_AFTER_MS) return 'UNKNOWN';
  return ageMs >= LATE_AFTER_MS ? 'LATE' : 'FRESH';
}

export interface Look {
  readonly fleetSize: number;
  readonly inGrace: boolean;
  /**
   * Agents that fell silent lately, up to MASS_WINDOW_MS ago, lost already or not. Heartbeats are written every few
   * seconds, so those that fall silent together are not lost together: no look by itself would see that they are many.
   */
  readonly silent: number;
  /** Since when a mass verdict has waited, ms; undefined: none does. */
  readonly massSinceMs?: number;
  readonly nowMs: number;
}

export interface Judgement {
  readonly verdicts: readonly NewVerdict[];
  /** A mass verdict waits for its second look: whoever would be lost is late until then. */
  readonly putOff: boolean;
  /** A large part of the fleet is silent, and a first look has found some of it lost. */
  readonly isMass: boolean;
}

export function judgeAll(rows: readonly SeenRow[], look: Look): Judgement {
  const changed = rows.map((row) => ({ ...row, next: judge(row.ageMs) })).filter((row) => row.next !== row.verdict);
  const better = changed.filter((row) => ORDER[row.next] < ORDER[row.verdict]);
  const worse = look.inGrace ? [] : changed.filter((row) => ORDER[row.next] > ORDER[row.verdict]);
  const lost = worse.filter((row) => row.next === 'UNKNOWN').length;
  const silent = Math.max(lost, look.silent);
  const isLarge = silent >= MASS_MIN_AGENTS && silent > look.fleetSize * MASS_SHARE;
  const seenTwice = look.massSinceMs !== undefined && look.nowMs - look.massSinceMs >= SECOND_LOOK_MS;
  const putOff = isLarge && lost > 0 && !seenTwice;
  const told = putOff ? worse.map((row) => ({ ...row, next: 'LATE' as const })) : worse;
  const verdicts = [...better, ...told.filter((row) => row.next !== row.verdict)];
  return {
    verdicts: verdicts.map((row) => ({ agentId: row.agentId, verdict: row.next })),
    putOff,
    isMass: isLarge && (lost > 0 || look.massSinceMs !== undefined),
  };
}
