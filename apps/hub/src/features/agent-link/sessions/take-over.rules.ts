/**
 * Tells a restart from a clone. A new instance that takes a live session over is normal (a pod was replaced, its old
 * connection is not noticed dead yet); two instances that take it from each other again and again are two clusters with
 * one key, and neither may have it (03).
 */
export const TAKE_OVER_WINDOW_MS = 5 * 60_000;
export const MAX_TAKE_OVERS = 3;

export interface TakeOver {
  readonly fromInstance: string;
  readonly toInstance: string;
}

/** `recent`: the take-overs within the window, the newest included. */
export function isCloned(recent: readonly TakeOver[], newest: TakeOver): boolean {
  const pair = new Set([newest.fromInstance, newest.toInstance]);
  const between = recent.filter((one) => pair.has(one.fromInstance) && pair.has(one.toInstance));
  return between.length > MAX_TAKE_OVERS;
}
