/**
 * The delete breaker (03 rule 2): so many deletes within the window for one agent, and so many in the fleet; what is
 * beyond waits until the window has passed. It holds a mistake back long enough for a person to see it; without it one
 * bug or one script empties every cluster in a second. Letting go (ORPHAN) destroys nothing and is not counted.
 */
export const BREAKER_WINDOW_MS = 5 * 60_000;

export interface DeleteLimits {
  readonly perAgent: number;
  readonly fleet: number;
}

export interface BreakerState {
  /** Times of the releases within the window, of this agent and of all. */
  readonly agentMs: readonly number[];
  readonly fleetMs: readonly number[];
}

/** How many of the wanted tombstones may go now, and when the next one may (ms since 1970; undefined: all may). */
export function releaseTombstones(
  wanted: number,
  state: BreakerState,
  limits: DeleteLimits,
  nowMs: number,
): { readonly allowed: number; readonly nextAtMs?: number } {
  const room = Math.min(limits.perAgent - state.agentMs.length, limits.fleet - state.fleetMs.length);
  const allowed = Math.max(0, Math.min(wanted, room));
  if (allowed === wanted) return { allowed };
  const agentFull = state.agentMs.length + allowed >= limits.perAgent;
  const oldestMs = Math.min(nowMs, ...(agentFull ? state.agentMs : state.fleetMs));
  return { allowed, nextAtMs: oldestMs + BREAKER_WINDOW_MS };
}
