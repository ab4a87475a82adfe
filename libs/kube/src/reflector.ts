/** What a reflector promises; `startReflector` keeps it. */
import type { Clock, KubeObject } from '#domain';
import type { KubeClient, Selection } from './kube-client.ts';
import type { KubeResource } from './kube-resource.ts';

export interface ReflectorOptions<P> extends Selection {
  readonly client: KubeClient;
  readonly resource: KubeResource;
  readonly clock: Clock;
  /** Ends it for good; nothing else does. */
  readonly signal: AbortSignal;
  /** What is kept of each object; undefined: not kept (and told as removed if it was). */
  readonly project: (object: KubeObject) => P | undefined;
  /**
   * `key` is `namespace/name` (or `name`). `projection` undefined: the object is gone; `previous` undefined: it is new.
   * Also called when a modified object projects to the same value: filter there if that matters.
   */
  readonly onChange?: (key: string, projection: P | undefined, previous: P | undefined) => void;
  /** After each complete list, the first included. */
  readonly onSynced?: () => void;
  /** Each failure, before the wait; for logs and metrics. */
  readonly onFailure?: (error: unknown, retryInMs: number) => void;
  /** Default Math.random. */
  readonly random?: () => number;
  /** Objects per list page. Default 500. */
  readonly pageSize?: number;
  /** Default 300. */
  readonly watchTimeoutSeconds?: number;
  /** Default 90,000; see WatchOptions. */
  readonly inactivityTimeoutMs?: number;
  /** First and longest pause after a failure; jittered. Default 200 and 10,000. */
  readonly backoffMs?: { readonly first: number; readonly longest: number };
}

export interface Reflector<P> {
  /** True after the first complete list; never false again (see isStale). */
  readonly synced: boolean;
  /** Monotonic ms at which the server last proved the cache current (list page, event, bookmark, watch opened). */
  readonly lastSeenMonotonicMs: number | undefined;
  /** True while a watch is open. */
  readonly watching: boolean;
  /**
   * True when nobody should act on the cache: never synced, or not watching / nothing heard for longer than maxAgeMs.
   * While a watch is open silence is normal up to the bookmark interval, so the limit then is the larger of maxAgeMs and
   * the inactivity time-out; once it is closed, age counts from the last proof.
   */
  isStale(maxAgeMs: number): boolean;
  get(key: string): P | undefined;
  readonly size: number;
  entries(): IterableIterator<[string, P]>;
  /** Resolves at the first sync; rejects when the reflector or `signal` is aborted before. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Resolves when the loop has ended after abort. */
  readonly done: Promise<void>;
}
