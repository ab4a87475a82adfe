import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

export interface LedgerReport {
  readonly attempted: number;
  /** Acknowledged by the primary and by all replicas. */
  readonly safe: number;
  readonly longestGapMs: number;
}

const WAIT_MS = 300;
const PERIOD_MS = 20;

/**
 * A client that writes unique keys and remembers those that the primary and every replica acknowledged: none of these
 * may ever be missing, whatever fails one at a time. Asynchronous replication may lose the others; they are only counted.
 */
export class WriteLedger {
  readonly #client: Redis;
  readonly #replicas: number;
  readonly #safeKeys: string[] = [];
  #attempted = 0;
  #lastAckAt = performance.now();
  #longestGapMs = 0;
  #running: Promise<void> | undefined;
  #stopped = false;
  /** Counts the connections of the client that have ended. */
  #ended = 0;

  constructor(client: Redis, replicas: number) {
    this.#client = client;
    this.#replicas = replicas;
    client.on('close', () => (this.#ended += 1));
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<LedgerReport> {
    this.#stopped = true;
    await this.#running;
    return { attempted: this.#attempted, safe: this.#safeKeys.length, longestGapMs: Math.round(this.#longestGapMs) };
  }

  /** The safe keys that this client does not have. */
  async missing(client: Redis): Promise<string[]> {
    const missing: string[] = [];
    for (let start = 0; start < this.#safeKeys.length; start += 500) {
      const keys = this.#safeKeys.slice(start, start + 500);
      const values = await client.mget(keys);
      missing.push(...keys.filter((key, index) => values[index] !== key));
    }
    return missing;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#writeOne();
      await sleep(PERIOD_MS);
    }
  }

  async #writeOne(): Promise<void> {
    const key = `ledger:${this.#attempted}`;
    this.#attempted += 1;
    const ended = this.#ended;
    try {
      await this.#client.set(key, key);
      const now = performance.now();
      this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastAckAt);
      this.#lastAckAt = now;
      const copies = Number(await this.#client.call('WAIT', String(this.#replicas), String(WAIT_MS)));
      // WAIT speaks of the writes of its own connection: on a new one it counts replicas, and says nothing of this write.
      if (copies >= this.#replicas && this.#ended === ended) this.#safeKeys.push(key);
    } catch {
      // not acknowledged: promised nothing
    }
  }
}
