import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { GapMeter } from './measure-gap.ts';

export interface UserWriterOptions {
  readonly redis: Redis;
  /** Keys are `w:<run>:<number>`. */
  readonly run: string;
  /** Loops with one command in flight each. */
  readonly writers: number;
  readonly periodMs: number;
}

/** Writes unique keys through a user's client and remembers those that were acknowledged. */
export class UserWriter {
  readonly acknowledged: string[] = [];
  /** When each key was acknowledged, on performance.now(). */
  readonly acknowledgedAtMs = new Map<string, number>();
  /** How often each first word of an error was seen. */
  readonly errorKinds: Record<string, number> = {};
  readonly gap: GapMeter;
  readonly #options: UserWriterOptions;
  readonly #loops: Promise<void>[];
  #sequence = 0;
  #stopped = false;

  constructor(options: UserWriterOptions, startedAt: number) {
    this.#options = options;
    this.gap = new GapMeter(startedAt);
    this.#loops = Array.from({ length: options.writers }, (_, index) => this.#loop(index));
  }

  get attempted(): number {
    return this.#sequence;
  }

  get errors(): number {
    return Object.values(this.errorKinds).reduce((sum, each) => sum + each, 0);
  }

  /** Resolves when the last command is answered, or after `patienceMs`: a command without an answer promised nothing. */
  async stop(patienceMs: number): Promise<void> {
    this.#stopped = true;
    await Promise.race([Promise.all(this.#loops), sleep(patienceMs, undefined, { ref: false })]);
  }

  async #loop(index: number): Promise<void> {
    const { periodMs, writers } = this.#options;
    await sleep((periodMs * index) / writers); // spread, so that gaps are seen finer than the period
    while (!this.#stopped) {
      const sentAt = performance.now();
      await this.#writeOne();
      await sleep(Math.max(1, sentAt + periodMs - performance.now()));
    }
  }

  async #writeOne(): Promise<void> {
    this.#sequence += 1;
    const key = `w:${this.#options.run}:${this.#sequence}`;
    try {
      await this.#options.redis.set(key, '1');
      const now = performance.now();
      this.acknowledged.push(key);
      this.acknowledgedAtMs.set(key, now);
      this.gap.succeeded(now);
    } catch (error) {
      const kind = String((error as Error).message).split(' ')[0] ?? '';
      this.errorKinds[kind] = (this.errorKinds[kind] ?? 0) + 1;
    }
  }
}
