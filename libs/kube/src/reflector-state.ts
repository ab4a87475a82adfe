/** What a reflector knows of its own picture: how far it reads, and when the server last proved it current. */
import type { Clock } from '#domain';

export interface ReflectorState {
  /** Where the next watch starts; undefined: list first. */
  resourceVersion: string | undefined;
  readonly synced: boolean;
  readonly watching: boolean;
  readonly lastSeenMs: number | undefined;
  /** A watch or list failed after the last proof. */
  readonly failedSinceSeen: boolean;
  readonly whenSynced: Promise<void>;
  seen(): void;
  listed(): void;
  opened(): void;
  closed(): void;
  failed(): void;
  ended(): void;
}

export function createReflectorState(clock: Clock): ReflectorState {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Nobody may be waiting when the end comes first.
  promise.catch(() => undefined);
  let synced = false;
  let watching = false;
  let failedSinceSeen = false;
  let lastSeenMs: number | undefined;
  const seen = (): void => {
    lastSeenMs = clock.monotonicMs();
    failedSinceSeen = false;
  };
  return {
    resourceVersion: undefined,
    get synced() {
      return synced;
    },
    get watching() {
      return watching;
    },
    get lastSeenMs() {
      return lastSeenMs;
    },
    get failedSinceSeen() {
      return failedSinceSeen;
    },
    whenSynced: promise,
    seen,
    listed() {
      synced = true;
      resolve();
    },
    opened() {
      watching = true;
      seen();
    },
    closed() {
      watching = false;
    },
    failed() {
      failedSinceSeen = true;
    },
    ended() {
      reject(new Error('the reflector was stopped before its first list'));
    },
  };
}
