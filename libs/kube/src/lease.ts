/** What a lease elector promises; `startLeaseElector` keeps it. */
import type { Clock } from '#domain';
import type { KubeClient } from './kube-client.ts';

/**
 * TAKEN: another holder was seen. EXPIRED: not renewed in time, so another may hold it; followed by TAKEN when one was
 * seen, or by onAcquired when nobody took it. RELEASED: given up by us.
 */
export type LeaseLostReason = 'TAKEN' | 'EXPIRED' | 'RELEASED';

export interface LeaseElectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process: pod name plus something random. */
  readonly identity: string;
  readonly clock: Clock;
  /** On abort the lease is released (best effort, bounded by requestTimeoutMs) and `done` resolves. */
  readonly signal: AbortSignal;
  /** Default 15,000. */
  readonly leaseDurationMs?: number;
  /** Default 5,000. */
  readonly renewIntervalMs?: number;
  /** Per attempt. Default a third of the duration. */
  readonly requestTimeoutMs?: number;
  readonly random?: () => number;
  readonly onAcquired?: () => void;
  readonly onLost?: (reason: LeaseLostReason) => void;
  /** Each failed attempt, for logs. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LeaseElector {
  /** Held as far as we know: acquired, and neither lost nor older than its whole duration. */
  readonly isHolder: boolean;
  /** Identity of the last holder seen in the API, '' when released, undefined before the first look. */
  readonly observedHolder: string | undefined;
  /** Age on the monotonic clock since the last successful renewal was *sent*; undefined when not holder. */
  readonly ageMs: number | undefined;
  /**
   * The fence of 03 rule 15: call right before each write. True when this process holds the lease and renewed it less
   * than `fraction` (default two thirds) of its duration ago.
   */
  leaseIsYoungerThan(fraction?: number): boolean;
  /** Resolves after abort and release. */
  readonly done: Promise<void>;
}
