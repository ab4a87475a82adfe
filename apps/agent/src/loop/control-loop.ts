/**
 * Drives passes: a wake-up, a recheck that a plan asked for, a retry after a failure, and a resync in case that all of
 * those were missed. Every wait has jitter and every loop a bound.
 */
import { parseObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import { KeyedBackoff, spread } from './backoff.ts';
import { KeyedWorkQueue } from './keyed-work-queue.ts';
import { nextLookMs, reconcile } from './reconcile.ts';
import type { PassOutcome, ReconcileParts } from './reconcile.ts';

export interface ControlLoopSettings {
  readonly parts: ReconcileParts;
  /** Passes at once, each over another RedisCluster. */
  readonly concurrency: number;
  /** The bound on how long anything can go unnoticed, Sentinel's own failovers included. */
  readonly resyncMs: () => number;
  readonly random: () => number;
  /** False while this agent must not act on `namespace/name`: the key waits. */
  readonly mayAct: (key: string) => boolean;
  /** Before a pass: what to call after it, or undefined when this key must wait. Absent: every key may. */
  readonly enter?: (key: string) => ((outcome: PassOutcome | undefined) => void) | undefined;
  readonly onPass: (outcome: PassOutcome, durationMs: number) => void;
  readonly onQueueWait?: (waitedMs: number) => void;
  readonly onPassFailed: (key: ObjectKey, error: unknown, retryInMs: number) => void;
}

/** Lets the events of one change arrive together: one write of ours comes back by several watches. */
const MERGE_MS = 30;
/** While nobody may act (no Lease, no current picture), so that work goes on soon after that has passed. */
const NOT_YET_MS = 300;
const BACKOFF = { baseMs: 500, maxMs: 60_000 };
/** A creation takes about ten passes that act one after another; more than that grows slower, or a quarrel with another
 * writer over one field would spin for ever. */
const BUSY_PASSES = 12;
const BUSY_GROWTH = 1.5;

export class ControlLoop {
  readonly #settings: ControlLoopSettings;
  readonly #queue: KeyedWorkQueue;
  readonly #backoff: KeyedBackoff;
  /** Passes in a row that did something, by key. */
  readonly #acting = new Map<string, number>();

  constructor(settings: ControlLoopSettings) {
    this.#settings = settings;
    this.#backoff = new KeyedBackoff({ ...BACKOFF, random: settings.random });
    this.#queue = new KeyedWorkQueue({
      concurrency: settings.concurrency,
      work: (key) => this.#work(key),
      onCrash: (key, error) => this.#retry(key, error),
      ...(settings.onQueueWait === undefined ? {} : { onStart: settings.onQueueWait }),
    });
  }

  get queueDepth(): number {
    return this.#queue.depth;
  }

  /** `key` is `namespace/name`. */
  wake(key: string): void {
    this.#queue.addAfter(key, MERGE_MS);
  }

  /** For what cannot wait: a process that ended. */
  wakeAtOnce(key: string): void {
    this.#queue.add(key);
  }

  /** Resolves when the passes under way have ended. */
  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  async #work(key: string): Promise<void> {
    const { enter = () => () => undefined, mayAct, random } = this.#settings;
    const leave = mayAct(key) ? enter(key) : undefined;
    if (leave === undefined) {
      this.#queue.addAfter(key, spread(NOT_YET_MS, random));
      return;
    }
    const outcome = await this.#pass(key, leave);
    if (outcome.seen === 'GONE') this.#gone(key, outcome);
    else if (outcome.result.failure === undefined) this.#settle(key, outcome);
    else this.#queue.addAfter(key, this.#lookAfterFailureMs(key, outcome));
  }

  /**
   * An action that is refused for ever (a budget, a StorageClass) must not make everything else go unnoticed for longer than
   * a resync; and what was done before it is looked at soon, with the same growth.
   */
  #lookAfterFailureMs(key: string, outcome: PassOutcome): number {
    const backoffMs = Math.min(this.#backoff.nextDelayMs(key), this.#settings.resyncMs());
    if (outcome.result.done.length === 0) return backoffMs;
    return Math.min(backoffMs, (nextLookMs(outcome) ?? backoffMs) * this.#countActing(key, true));
  }

  async #pass(key: string, leave: (outcome: PassOutcome | undefined) => void): Promise<PassOutcome> {
    const startedAtMs = performance.now();
    let outcome: PassOutcome | undefined;
    try {
      outcome = await reconcile(parseObjectKey(key), this.#settings.parts, this.#backoff.failuresOf(key));
      this.#settings.onPass(outcome, performance.now() - startedAtMs);
      return outcome;
    } finally {
      leave(outcome);
    }
  }

  #gone(key: string, { missingRecheckMs }: PassOutcome): void {
    this.#forget(key);
    if (missingRecheckMs !== undefined) this.#queue.addAfter(key, spread(missingRecheckMs, this.#settings.random));
  }

  #forget(key: string): void {
    this.#backoff.reset(key);
    this.#acting.delete(key);
  }

  #settle(key: string, outcome: PassOutcome): void {
    const acted = outcome.seen === 'UNCLAIMED' || outcome.result.done.length > 0;
    this.#backoff.reset(key);
    const slowdown = this.#countActing(key, acted);
    const { random } = this.#settings;
    const resyncMs = this.#settings.resyncMs();
    const lookMs = Math.min((nextLookMs(outcome) ?? resyncMs) * slowdown, resyncMs);
    this.#queue.addAfter(key, spread(lookMs, random));
  }

  /** How many times longer than asked the next look waits. */
  #countActing(key: string, acted: boolean): number {
    const acting = acted ? (this.#acting.get(key) ?? 0) + 1 : 0;
    if (acting > 0) this.#acting.set(key, acting);
    else this.#acting.delete(key);
    return BUSY_GROWTH ** Math.min(Math.max(0, acting - BUSY_PASSES), 30);
  }

  #retry(key: string, error: unknown): void {
    const retryInMs = this.#backoff.nextDelayMs(key);
    this.#settings.onPassFailed(parseObjectKey(key), error, retryInMs);
    this.#queue.addAfter(key, retryInMs);
  }
}
