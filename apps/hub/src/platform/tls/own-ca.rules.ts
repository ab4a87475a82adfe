/**
 * When a hub with a CA of its own makes the next one, and when it begins to use it. Agents trust only what they were told over
 * a session, so the next CA is announced long before: on request, or two years before the end of the current one. It is
 * used on request, or half a year before that end when agents have had two months to hear of it, or when the current
 * one ends anyway; without the announcement every agent would be locked out then.
 */
const DAY_MS = 86_400_000;
export const ANNOUNCE_NEXT_BEFORE_MS = 2 * 365 * DAY_MS;
export const USE_NEXT_BEFORE_MS = 182 * DAY_MS;
export const ANNOUNCED_FOR_MS = 60 * DAY_MS;
/** The certificate of the server needs a day to be made and read by all replicas. */
const LAST_MOMENT_MS = DAY_MS;

/** `announce-next`: make a next CA now and tell the agents. `use-next`: serve with it from this start on. */
export type OwnCaWish = 'keep' | 'announce-next' | 'use-next';

export interface OwnCaState {
  readonly wish: OwnCaWish;
  readonly nowMs: number;
  /** When the current CA ends; absent when there is none. */
  readonly endMs?: number;
  /** When the next CA was made; absent when there is none. */
  readonly nextMadeMs?: number;
}

export function decideOwnCa(state: OwnCaState): 'MAKE_CURRENT' | 'MAKE_NEXT' | 'USE_NEXT' | 'KEEP' {
  const { wish, nowMs, endMs, nextMadeMs } = state;
  if (endMs === undefined) return 'MAKE_CURRENT';
  const leftMs = endMs - nowMs;
  if (nextMadeMs === undefined) {
    return wish === 'announce-next' || leftMs < ANNOUNCE_NEXT_BEFORE_MS ? 'MAKE_NEXT' : 'KEEP';
  }
  const isKnown = nowMs - nextMadeMs >= ANNOUNCED_FOR_MS;
  const isDue = (isKnown && leftMs < USE_NEXT_BEFORE_MS) || leftMs < LAST_MOMENT_MS;
  return wish === 'use-next' || isDue ? 'USE_NEXT' : 'KEEP';
}
