/**
 * Background work that one replica at a time may do: each tick takes an advisory lock for the length of one transaction
 * and does nothing when another replica holds it. Nobody is elected, so nobody's death has to be noticed.
 */
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';

import { WORKER_LOCK } from './advisory-locks.ts';

const RETRY_MS = 2_000;

export interface ClaimedWork {
  readonly name: keyof typeof WORKER_LOCK;
  readonly intervalMs: number;
  /** May return in how many ms it is due again, when that is sooner than the interval. */
  work(tx: EntityManager): Promise<number | void>;
}

export class ClaimedWorker {
  readonly #dataSource: DataSource;
  readonly #work: ClaimedWork;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #dueInMs: number | undefined;
  #stopped = false;
  #failing = false;

  constructor(dataSource: DataSource, work: ClaimedWork, log: Logger) {
    this.#dataSource = dataSource;
    this.#work = work;
    this.#log = log;
  }

  start(): void {
    this.#schedule();
  }

  /** Something to do has just come up: the next tick is now, or right after the one that runs. */
  nudge(): void {
    this.#dueInMs = 0;
    if (!this.#isRunning) this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** One tick; true when this replica had the claim. Throws what the work throws. */
  async tick(): Promise<boolean> {
    return this.#dataSource.transaction(async (tx) => {
      const [row] = await tx.query<{ claimed: boolean }[]>('SELECT pg_try_advisory_xact_lock($1) AS claimed', [
        WORKER_LOCK[this.#work.name],
      ]);
      if (!row?.claimed) return false;
      const dueInMs = await this.#work.work(tx);
      if (typeof dueInMs === 'number') this.#dueInMs = Math.min(dueInMs, this.#dueInMs ?? dueInMs);
      return true;
    });
  }

  #schedule(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const { intervalMs } = this.#work;
    const jitterMs = Math.random() * intervalMs * 0.1;
    this.#timer = setTimeout(() => this.#run(), Math.min(this.#dueInMs ?? Infinity, intervalMs + jitterMs));
  }

  #run(): void {
    this.#isRunning = true;
    this.#dueInMs = undefined;
    this.#running = this.tick()
      .then(
        () => (this.#failing = false),
        (error: unknown) => this.#warnOnce(error),
      )
      .then(() => {
        this.#isRunning = false;
        this.#schedule();
      });
  }

  /** A database that is away would fill the log: said once, until it works again. */
  #warnOnce(error: unknown): void {
    if (!this.#failing)
      this.#log.error({ err: error, worker: this.#work.name }, 'background work fails; it is tried again');
    this.#failing = true;
    // Not after its interval: work of every ten minutes, after an outage, is what others wait for (a partition to write to).
    this.#dueInMs = RETRY_MS;
  }
}
