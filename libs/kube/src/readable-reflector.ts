/**
 * The reader's side of a reflector, with the rule of age: while a watch is open, silence up to the inactivity limit is
 * normal, since the server only speaks when something changes or a bookmark is due; once it is closed, age counts from
 * the last proof. What breaks without it: somebody acts on a picture from before an outage.
 */
import type { ProjectionCache } from './projection-cache.ts';
import type { Reflector, ReflectorOptions } from './reflector.ts';
import type { ReflectorState } from './reflector-state.ts';

const DEFAULT_INACTIVITY_MS = 90_000;

export function readableReflector<P>(
  options: ReflectorOptions<P>,
  cache: ProjectionCache<P>,
  state: ReflectorState,
  done: Promise<void>,
): Reflector<P> {
  const inactivityMs = options.inactivityTimeoutMs ?? DEFAULT_INACTIVITY_MS;
  return {
    get synced() {
      return state.synced;
    },
    get watching() {
      return state.watching;
    },
    get lastSeenMonotonicMs() {
      return state.lastSeenMs;
    },
    get size() {
      return cache.entries.size;
    },
    get: (key) => cache.entries.get(key),
    entries: () => cache.entries.entries(),
    isStale(maxAgeMs) {
      if (!state.synced || state.lastSeenMs === undefined) return true;
      const limitMs = state.watching ? Math.max(maxAgeMs, inactivityMs) : maxAgeMs;
      return options.clock.monotonicMs() - state.lastSeenMs > limitMs;
    },
    whenSynced: (signal) =>
      signal === undefined ? state.whenSynced : Promise.race([state.whenSynced, aborted(signal)]),
    done,
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(new Error('stopped waiting for the first list'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}
