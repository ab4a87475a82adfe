/**
 * Tells a restart, and a Lease that changed hands, from a clone. A new instance that takes a live session over is normal (a
 * pod was replaced, its old connection is not noticed dead yet); two instances that take it from each other again and
 * again are two clusters with one key, and neither may have it (03). A process that has lost its API server says so and
 * keeps its link (03 rule 10) while another one takes the Lease: a session that says so loses to any that sees its API server
 * and nobody is suspected, and who says so takes none that is live, or two blind clones would take turns uncounted. What
 * is taken from one that sees its API server is counted, whatever the taker says of itself later.
 */
export const TAKE_OVER_WINDOW_MS = 5 * 60_000;
export const MAX_TAKE_OVERS = 3;

export interface TakeOver {
  readonly fromInstance: string;
  readonly toInstance: string;
}

export interface Holder {
  readonly state: string;
  readonly instanceId: string | null;
  /** What its session said last: UNKNOWN while it does not see its API server. */
  readonly inventory: string;
  /** Something came from it lately: its connection is not one that only nobody has noticed dead. */
  readonly isHeard: boolean;
}

export interface Comer {
  readonly instanceId: string;
  readonly inventory: string;
}

/** FREE: nobody's session is taken. BLIND_LOSES: taken from one without an API server. HELD: not given. */
export type TakeOverVerdict = 'FREE' | 'BLIND_LOSES' | 'HELD' | 'SUSPECT';

export function judgeTakeOver(holder: Holder | undefined, comer: Comer): TakeOverVerdict {
  if (holder?.state !== 'CONNECTED' || !holder.instanceId || holder.instanceId === comer.instanceId) return 'FREE';
  if (comer.inventory === 'UNKNOWN' && holder.isHeard) return 'HELD';
  return holder.inventory === 'UNKNOWN' ? 'BLIND_LOSES' : 'SUSPECT';
}

/** `recent`: the take-overs within the window, the newest included. */
export function isCloned(recent: readonly TakeOver[], newest: TakeOver): boolean {
  const pair = new Set([newest.fromInstance, newest.toInstance]);
  const between = recent.filter((one) => pair.has(one.fromInstance) && pair.has(one.toInstance));
  return between.length > MAX_TAKE_OVERS;
}
