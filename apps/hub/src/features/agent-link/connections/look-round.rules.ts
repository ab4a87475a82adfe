/**
 * How the poll behind the hints goes round the sessions of a replica. Each poll asks for what changed since the one
 * before it, with a margin for transactions that were open then, and looks at a part of the sessions themselves; after
 * ROUND_POLLS of them each session was looked at, whatever was lost meanwhile.
 */
export const ROUND_POLLS = 7;
/** So few sessions are looked at in every poll. */
const ALL_AT_ONCE = 500;
/** Longer than any transaction of the hub stays open (idle ones end after 5 s). */
const MARGIN_MS = 10_000;
/** Longer than a change waits anywhere. */
export const ALL_TIME_MS = 10 * 365 * 24 * 3600_000;

/** `polledAtMs`: when the last poll that succeeded began; absent when there was none, or hints were lost since. */
export const chooseLookBackMs = (nowMs: number, polledAtMs: number | undefined): number =>
  polledAtMs === undefined ? ALL_TIME_MS : Math.max(0, nowMs - polledAtMs) + MARGIN_MS;

/** Takes the next part off `round`, so large that a whole round of `size` sessions takes ROUND_POLLS polls. */
export const takeNextOfRound = (round: string[], size: number): readonly string[] =>
  round.splice(0, Math.max(ALL_AT_ONCE, Math.ceil(size / ROUND_POLLS)));
