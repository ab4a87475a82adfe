/**
 * Follows the Lease: what only one process of an agent may do starts when the Lease is acquired and ends when another
 * holder is seen. Merely not renewed in time is no end: the API server is away then, so nobody else can have taken it
 * either, and the last holder keeps the link to tell the hub so (03 rule 10); the fence keeps it from writing.
 */
import type { Clock } from '#domain';
import { startLeaseElector } from '#kube';
import type { KubeClient, LeaseElector, LeaseLostReason } from '#kube';
import type { Log } from './platform/index.ts';
import { warnSparingly } from './warn-sparingly.ts';

export interface LeadershipSettings {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process. */
  readonly identity: string;
  /** Default: that of the elector. */
  readonly renewIntervalMs?: number;
  readonly start: () => void | Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How soon a process whose Lease expired notices that another one took it. */
const LOOK_MS = 1_000;

export class Leadership {
  readonly #settings: LeadershipSettings;
  readonly #abort = new AbortController();
  readonly #elector: LeaseElector;
  readonly #watch: NodeJS.Timeout;
  /** Starts and stops, one after another. */
  #turn: Promise<void> = Promise.resolve();
  #leads = false;

  constructor(settings: LeadershipSettings) {
    this.#settings = settings;
    const { client, clock, log, namespace, name, identity } = settings;
    const sparingly = warnSparingly(log, clock);
    this.#elector = startLeaseElector({
      client,
      clock,
      namespace,
      name,
      identity,
      signal: this.#abort.signal,
      ...(settings.renewIntervalMs === undefined ? {} : { renewIntervalMs: settings.renewIntervalMs }),
      onAcquired: () => this.#change(true, 'lease acquired'),
      onLost: (reason) => this.#lost(reason),
      onFailure: (error) => sparingly('lease', 'lease: attempt failed', { error }),
    });
    this.#watch = setInterval(() => this.#noticeTakeOver(), LOOK_MS);
  }

  /** The fence of 03 rule 15: ask right before each write. */
  readonly mayWrite = (): boolean => this.#elector.leaseIsYoungerThan();

  /** True from the start of the work until another holder was seen. */
  get leads(): boolean {
    return this.#leads;
  }

  /** undefined before the first look at the Lease. */
  get holder(): string | undefined {
    return this.#elector.observedHolder;
  }

  /** Ends the work, then releases the Lease, so that the next one need not wait for it to expire. */
  async stop(): Promise<void> {
    clearInterval(this.#watch);
    this.#change(false, 'this process ends');
    await this.#turn;
    this.#abort.abort();
    await this.#elector.done;
  }

  #lost(reason: LeaseLostReason): void {
    if (reason === 'TAKEN') this.#change(false, 'lease taken by another holder');
    if (reason === 'EXPIRED') this.#settings.log('warn', 'lease not renewed in time: nothing is written until it is');
  }

  #noticeTakeOver(): void {
    const { observedHolder, isHolder } = this.#elector;
    const other = observedHolder !== undefined && observedHolder !== '' && observedHolder !== this.#settings.identity;
    if (this.#leads && !isHolder && other) this.#change(false, 'lease taken by another holder while it was expired');
  }

  #change(leads: boolean, why: string): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    this.#settings.log('info', leads ? 'leading' : 'no longer leading', { why });
    const step = async (): Promise<void> => (leads ? this.#settings.start() : this.#settings.stop());
    this.#turn = this.#turn.then(step).catch((error: unknown) => {
      this.#settings.log('error', 'a change of leadership failed', { error });
    });
  }
}
