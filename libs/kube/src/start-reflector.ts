/**
 * Keeps a picture of one kind of object: list, then watch from there, for ever. Every failure is answered by a jittered
 * pause and another attempt; only the caller's signal ends it. It lists again when the server says the version is gone,
 * when versions go back (a restored server), and after an outage, because only a consistent list proves the picture
 * complete. What breaks without it: client-node's informer stops for good at the first cut socket or failed list.
 */
import type { KubeObject } from '#domain';
import { type Backoff, createBackoff, pause } from './backoff.ts';
import type { WatchEvent } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { createProjectionCache, type ProjectionCache } from './projection-cache.ts';
import { readableReflector } from './readable-reflector.ts';
import type { Reflector, ReflectorOptions } from './reflector.ts';
import { createReflectorState, type ReflectorState } from './reflector-state.ts';
import { isOlderResourceVersion } from './resource-version.ts';

const DEFAULT_BACKOFF = { first: 200, longest: 10_000 };
const DEFAULT_PAGE_SIZE = 500;
const DEFAULT_WATCH_SECONDS = 300;
/** A watch that the server ends sooner and without an event counts as a failure, or the loop would spin. */
const SHORTEST_WATCH_MS = 1_000;
/** After this long without proof the picture is listed anew instead of being watched on. */
const RELIST_AFTER_OUTAGE_MS = 15_000;

export function startReflector<P>(options: ReflectorOptions<P>): Reflector<P> {
  const cache = createProjectionCache<P>({
    project: options.project,
    onChange: options.onChange,
    onBug: (error) => tellFailure(options, error, 0),
  });
  const state = createReflectorState(options.clock);
  const done = run(options, cache, state);
  return readableReflector(options, cache, state, done);
}

async function run<P>(options: ReflectorOptions<P>, cache: ProjectionCache<P>, state: ReflectorState): Promise<void> {
  const { signal, clock } = options;
  const backoff = createBackoff(options.backoffMs ?? DEFAULT_BACKOFF, options.random ?? Math.random);
  // Asked through a function, or the compiler takes `aborted` for a constant between two awaits.
  const stopped = (): boolean => signal.aborted;
  while (!stopped()) {
    try {
      if (mustList(state, clock.monotonicMs())) await listInto(options, cache, state);
      await watchOnce(options, cache, state, backoff);
    } catch (error) {
      if (stopped()) break;
      if (error instanceof KubeError && error.isGone()) state.resourceVersion = undefined;
      await waitAfter(error, options, backoff);
    }
  }
  state.ended();
}

function mustList(state: ReflectorState, nowMs: number): boolean {
  if (state.resourceVersion === undefined || state.lastSeenMs === undefined) return true;
  return nowMs - state.lastSeenMs > RELIST_AFTER_OUTAGE_MS && state.failedSinceSeen;
}

async function waitAfter<P>(error: unknown, options: ReflectorOptions<P>, backoff: Backoff): Promise<void> {
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(backoff.next(), asked);
  tellFailure(options, error, waitMs);
  await pause(waitMs, options.signal);
}

/** A listener that throws must not be able to end the loop. */
function tellFailure<P>(options: ReflectorOptions<P>, error: unknown, waitMs: number): void {
  try {
    options.onFailure?.(error, waitMs);
  } catch {
    // Nobody is left to tell.
  }
}

const selectionOf = <P>({ namespace, labelSelector, fieldSelector }: ReflectorOptions<P>) => ({
  ...(namespace !== undefined && { namespace }),
  ...(labelSelector !== undefined && { labelSelector }),
  ...(fieldSelector !== undefined && { fieldSelector }),
});

async function listInto<P>(
  options: ReflectorOptions<P>,
  cache: ProjectionCache<P>,
  state: ReflectorState,
): Promise<void> {
  state.resourceVersion = undefined;
  const list = cache.beginList();
  const limit = options.pageSize ?? DEFAULT_PAGE_SIZE;
  const request = { ...selectionOf(options), limit, signal: options.signal };
  let page = await options.client.list(options.resource, request);
  for (;;) {
    for (const object of page.items) list.add(object);
    if (page.continue === undefined) break;
    page = await options.client.list(options.resource, { ...request, continue: page.continue });
  }
  list.finish();
  state.resourceVersion = page.resourceVersion;
  state.seen();
  state.listed();
  options.onSynced?.();
}

async function watchOnce<P>(
  options: ReflectorOptions<P>,
  cache: ProjectionCache<P>,
  state: ReflectorState,
  backoff: Backoff,
): Promise<void> {
  const seconds = options.watchTimeoutSeconds ?? DEFAULT_WATCH_SECONDS;
  const spread = 1 + (options.random ?? Math.random)();
  const startedAtMs = options.clock.monotonicMs();
  let events = 0;
  const worked = (): boolean => events > 0 || options.clock.monotonicMs() - startedAtMs >= SHORTEST_WATCH_MS;
  try {
    await options.client.watch(options.resource, {
      ...selectionOf(options),
      ...(state.resourceVersion !== undefined && { resourceVersion: state.resourceVersion }),
      ...(options.inactivityTimeoutMs !== undefined && { inactivityTimeoutMs: options.inactivityTimeoutMs }),
      signal: options.signal,
      timeoutSeconds: Math.round(seconds * spread),
      onOpen: () => state.opened(),
      onEvent: (event) => {
        events += 1;
        takeEvent(event, cache, state);
      },
    });
    if (!worked()) throw new KubeError({ reason: 'CLOSED', message: 'the server ended the watch at once' });
    // An orderly end: everything up to now was delivered.
    state.seen();
    backoff.reset();
  } catch (error) {
    if (state.watching && worked()) backoff.reset();
    state.failed();
    throw error;
  } finally {
    state.closed();
  }
}

function takeEvent<P>(event: WatchEvent, cache: ProjectionCache<P>, state: ReflectorState): void {
  const version = event.object.metadata.resourceVersion ?? '';
  if (state.resourceVersion !== undefined && isOlderResourceVersion(version, state.resourceVersion)) {
    const message = `resourceVersion went back from ${state.resourceVersion} to ${version}`;
    throw new KubeError({ code: 410, reason: 'Expired', message });
  }
  takeObject(event.type, event.object, cache);
  state.resourceVersion = version;
  state.seen();
}

function takeObject<P>(type: WatchEvent['type'], object: KubeObject, cache: ProjectionCache<P>): void {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      cache.set(object);
      break;
    case 'DELETED':
      cache.remove(object);
      break;
    case 'BOOKMARK':
      break;
  }
}
