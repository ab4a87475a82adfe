/**
 * Several reflectors of one kind, one a namespace, read as one picture: complete when each of them is, and stale when any of
 * them is. Who acts in one namespace asks that namespace's own reflector for its age.
 */
import type { Reflector } from './reflector.ts';

/** `parts`: at least one, whose keys do not overlap. */
export function joinReflectors<P>(parts: readonly Reflector<P>[]): Reflector<P> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const seenMs = (): readonly (number | undefined)[] => parts.map(({ lastSeenMonotonicMs }) => lastSeenMonotonicMs);
  return {
    get synced() {
      return parts.every(({ synced }) => synced);
    },
    get watching() {
      return parts.every(({ watching }) => watching);
    },
    get lastSeenMonotonicMs() {
      return seenMs().reduce((oldest, at) =>
        oldest === undefined || at === undefined ? undefined : Math.min(oldest, at),
      );
    },
    get size() {
      return parts.reduce((sum, { size }) => sum + size, 0);
    },
    isStale: (maxAgeMs) => parts.some((part) => part.isStale(maxAgeMs)),
    get: (key) => {
      for (const part of parts) {
        const value = part.get(key);
        if (value !== undefined) return value;
      }
      return undefined;
    },
    entries: () => entriesOf(parts),
    whenSynced: async (signal) => {
      await Promise.all(parts.map((part) => part.whenSynced(signal)));
    },
    done: Promise.all(parts.map(({ done }) => done)).then(() => undefined),
  };
}

function* entriesOf<P>(parts: readonly Reflector<P>[]): IterableIterator<[string, P]> {
  for (const part of parts) yield* part.entries();
}
