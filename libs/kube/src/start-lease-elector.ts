/**
 * Leader election on one Lease. A Lease is not a fence: a paused process does not notice that time went by. So age is
 * measured on the monotonic clock from before the renewal was sent, and `leaseIsYoungerThan` is asked right before each
 * write (03 rule 15). What breaks without it: two agents act on one Redis after a long pause of the first.
 */
import { pause } from './backoff.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE } from './kube-resource.ts';
import type { LeaseElector, LeaseElectorOptions, LeaseLostReason } from './lease.ts';
import {
  holdLease,
  type LeaseObject,
  type LeaseSighting,
  mayTakeLease,
  releaseLease,
  sightLease,
} from './lease-record.ts';

const DEFAULT_DURATION_MS = 15_000;
const DEFAULT_RENEW_MS = 5_000;
/** A failed attempt is repeated sooner than a good one, so that two of them fit before the fence closes. */
const RETRY_SHARE = 0.4;
const JITTER_SHARE = 0.2;

interface Election {
  readonly options: LeaseElectorOptions;
  readonly durationMs: number;
  readonly requestTimeoutMs: number;
  /** The object as last read or written by us; its resourceVersion is the precondition of the next write. */
  lease: LeaseObject | undefined;
  sighting: LeaseSighting | undefined;
  /** Monotonic ms before the last successful renewal was sent; undefined: not holder. */
  heldSinceMs: number | undefined;
  /** We were the last holder that we know of: expired, and nobody else seen since. */
  expired: boolean;
}

export function startLeaseElector(options: LeaseElectorOptions): LeaseElector {
  const durationMs = options.leaseDurationMs ?? DEFAULT_DURATION_MS;
  const election: Election = {
    options,
    durationMs,
    requestTimeoutMs: options.requestTimeoutMs ?? durationMs / 3,
    lease: undefined,
    sighting: undefined,
    heldSinceMs: undefined,
    expired: false,
  };
  const age = (): number | undefined =>
    election.heldSinceMs === undefined ? undefined : options.clock.monotonicMs() - election.heldSinceMs;
  const isYoungerThan = (limitMs: number): boolean => (age() ?? Infinity) < limitMs;
  const done = run(election);
  return {
    get isHolder() {
      return isYoungerThan(durationMs);
    },
    get observedHolder() {
      return election.sighting?.holder;
    },
    get ageMs() {
      return age();
    },
    leaseIsYoungerThan: (fraction = 2 / 3) => isYoungerThan(durationMs * fraction),
    done,
  };
}

async function run(election: Election): Promise<void> {
  const { options } = election;
  const random = options.random ?? Math.random;
  const renewMs = options.renewIntervalMs ?? DEFAULT_RENEW_MS;
  const stopped = (): boolean => options.signal.aborted;
  while (!stopped()) {
    let waitMs = renewMs;
    try {
      await attempt(election);
    } catch (error) {
      if (stopped()) break;
      waitMs = renewMs * RETRY_SHARE;
      options.onFailure?.(error);
    }
    dropWhenExpired(election);
    const jittered = waitMs * (1 - JITTER_SHARE / 2 + random() * JITTER_SHARE);
    await pause(Math.min(jittered, untilExpiryMs(election)), options.signal);
    dropWhenExpired(election);
  }
  await release(election);
}

const untilExpiryMs = ({ heldSinceMs, durationMs, options }: Election): number =>
  heldSinceMs === undefined ? Infinity : Math.max(1, heldSinceMs + durationMs - options.clock.monotonicMs());

function dropWhenExpired(election: Election): void {
  if (election.heldSinceMs === undefined) return;
  if (election.options.clock.monotonicMs() - election.heldSinceMs >= election.durationMs) lose(election, 'EXPIRED');
}

function lose(election: Election, reason: LeaseLostReason): void {
  if (election.heldSinceMs === undefined && !election.expired) return;
  election.heldSinceMs = undefined;
  election.expired = reason === 'EXPIRED';
  election.options.onLost?.(reason);
}

/** While holder one PUT renews; everything else starts by looking. */
async function attempt(election: Election): Promise<void> {
  if (election.heldSinceMs !== undefined && election.lease !== undefined) {
    try {
      await write(election, election.lease);
      return;
    } catch (error) {
      // Changed or deleted by somebody: look who holds it now.
      if (!(error instanceof KubeError && (error.isConflict() || error.isNotFound()))) throw error;
    }
  }
  await lookAndTake(election);
}

async function lookAndTake(election: Election): Promise<void> {
  const { client, namespace, name, identity, clock, signal } = election.options;
  const early = { signal, timeoutMs: election.requestTimeoutMs };
  const lease = await client.find<LeaseObject>(RESOURCE.lease, { namespace, name }, early);
  election.lease = lease;
  if (lease === undefined) {
    await write(election, undefined);
    return;
  }
  const now = clock.monotonicMs();
  election.sighting = sightLease(lease.spec ?? {}, election.sighting, now);
  if (mayTakeLease(election.sighting, identity, now)) await write(election, lease);
  else lose(election, 'TAKEN');
}

async function write(election: Election, lease: LeaseObject | undefined): Promise<void> {
  const { client, namespace, name, identity, clock, signal } = election.options;
  const spec = holdLease(lease?.spec, identity, election.durationMs, clock.nowMs());
  const sentAtMs = clock.monotonicMs();
  const options = { signal, timeoutMs: election.requestTimeoutMs };
  const { apiVersion, kind } = RESOURCE.lease;
  election.lease =
    lease === undefined
      ? await client.create<LeaseObject>({ apiVersion, kind, metadata: { namespace, name }, spec }, options)
      : await client.replace<LeaseObject>({ ...lease, apiVersion, kind, spec }, options);
  election.sighting = sightLease(spec, election.sighting, clock.monotonicMs());
  const isNew = election.heldSinceMs === undefined;
  election.heldSinceMs = sentAtMs;
  election.expired = false;
  if (isNew) election.options.onAcquired?.();
}

/**
 * Best effort: without it a successor waits for the whole duration. A renewal that the end cut off may have reached the
 * server all the same, so that our version is old: then it is read again, and given back if it is still ours.
 */
async function release(election: Election): Promise<void> {
  const { lease, options } = election;
  const wasHolder = election.heldSinceMs !== undefined || election.expired;
  lose(election, 'RELEASED');
  if (!wasHolder || lease === undefined) return;
  try {
    await writeRelease(election, lease).catch(async (error: unknown) => {
      if (!(error instanceof KubeError && error.isConflict())) throw error;
      const live = await readAgain(election);
      if (live?.spec?.holderIdentity === options.identity) await writeRelease(election, live);
    });
  } catch (error) {
    options.onFailure?.(error);
  }
}

async function writeRelease({ options, requestTimeoutMs }: Election, lease: LeaseObject): Promise<void> {
  const { apiVersion, kind } = RESOURCE.lease;
  const spec = releaseLease(lease.spec, options.clock.nowMs());
  await options.client.replace({ ...lease, apiVersion, kind, spec }, { timeoutMs: requestTimeoutMs });
}

function readAgain({ options, requestTimeoutMs }: Election): Promise<LeaseObject | undefined> {
  const { client, namespace, name } = options;
  return client.find<LeaseObject>(RESOURCE.lease, { namespace, name }, { timeoutMs: requestTimeoutMs });
}
