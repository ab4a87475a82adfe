/** Counts of a whole simulated fleet, kept by its agents and read by the driver. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { monotonicMs, type SimulatorReport } from './messages.ts';

const MAX_SAMPLES = 20_000;

export class FleetTally {
  readonly #agents: number;
  open = 0;
  welcomed = 0;
  statusResumed = 0;
  statusItemsAcked = 0;
  statusItemsWaiting = 0;
  framesIn = 0;
  bytesIn = 0;
  #inSync = 0;
  #firstOpenAtMs: number | null = null;
  #allInSyncAtMs: number | null = null;
  #welcomes = 0;
  #second = 0;
  #inSecond = 0;
  #peak = 0;
  #byMode: Record<string, number> = {};
  #failures: Record<string, number> = {};
  #latenciesMs: number[] = [];
  readonly #lag = monitorEventLoopDelay({ resolution: 20 });

  constructor(agents: number) {
    this.#agents = agents;
    this.#lag.enable();
  }

  opened(): void {
    this.open += 1;
    this.#firstOpenAtMs ??= monotonicMs();
  }

  wasWelcomed(mode: string): void {
    this.welcomed += 1;
    this.#welcomes += 1;
    this.#byMode[mode] = (this.#byMode[mode] ?? 0) + 1;
    const second = Math.floor(monotonicMs() / 1000);
    this.#inSecond = second === this.#second ? this.#inSecond + 1 : 1;
    this.#second = second;
    this.#peak = Math.max(this.#peak, this.#inSecond);
  }

  becameInSync(): void {
    this.#inSync += 1;
    if (this.#inSync === this.#agents) this.#allInSyncAtMs = monotonicMs();
  }

  ended(was: {
    readonly open: boolean;
    readonly welcomed: boolean;
    readonly inSync: boolean;
    readonly why: string;
  }): void {
    if (was.open) this.open -= 1;
    if (was.welcomed) this.welcomed -= 1;
    if (was.inSync) {
      this.#inSync -= 1;
      this.#allInSyncAtMs = null;
    }
    this.#failures[was.why] = (this.#failures[was.why] ?? 0) + 1;
  }

  statusTook(ms: number): void {
    if (this.#latenciesMs.length < MAX_SAMPLES) this.#latenciesMs.push(ms);
    // Reservoir: each later sample takes a random place, so that a long run is as well told as a short one.
    else this.#latenciesMs[Math.floor(Math.random() * MAX_SAMPLES)] = ms;
  }

  reset(): void {
    this.#firstOpenAtMs = null;
    this.#allInSyncAtMs = null;
    this.#welcomes = 0;
    this.#peak = 0;
    this.#byMode = {};
    this.#failures = {};
    this.#latenciesMs = [];
    this.statusItemsAcked = 0;
    this.statusResumed = 0;
    this.framesIn = 0;
    this.bytesIn = 0;
    this.#lag.reset();
  }

  stop(): void {
    this.#lag.disable();
  }

  report(): SimulatorReport {
    return {
      agents: this.#agents,
      open: this.open,
      welcomed: this.welcomed,
      inSync: this.#inSync,
      firstOpenAtMs: this.#firstOpenAtMs,
      allInSyncAtMs: this.#allInSyncAtMs,
      welcomes: this.#welcomes,
      peakWelcomesPerSecond: this.#peak,
      welcomesByMode: this.#byMode,
      failures: this.#failures,
      statusResumed: this.statusResumed,
      statusItemsAcked: this.statusItemsAcked,
      statusLatenciesMs: this.#latenciesMs,
      statusItemsWaiting: this.statusItemsWaiting,
      framesIn: this.framesIn,
      bytesIn: this.bytesIn,
      lagP99Ms: this.#lag.percentile(99) / 1e6,
      lagMaxMs: this.#lag.max / 1e6,
    };
  }
}
