/**
 * A clock that stands still while this process does: its event loop is blocked, it gets no processor, or it is frozen. What
 * others take is measured with it. By any other clock an answer that has waited in the socket for six seconds looks as
 * if the database had taken six seconds, and its disk is blamed.
 */
import type { Logger } from 'pino';

const TICK_MS = 250;
/** Above what a garbage collection or a large answer takes. */
const TELL_FROM_MS = 2_000;

export class AwakeClock {
  readonly #monotonicMs: () => number;
  #lastMs: number;
  #asleepMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#lastMs = monotonicMs();
  }

  /** Never goes back, and never far ahead of the last tick. */
  nowMs(): number {
    const nowMs = this.#monotonicMs();
    return nowMs - this.#asleepMs - this.#lateMs(nowMs);
  }

  /** Returns the way to stop it; it says when the process stood still for long. */
  start(log: Logger): () => void {
    this.#lastMs = this.#monotonicMs();
    const timer = setInterval(() => this.#tick(log), TICK_MS).unref();
    return () => clearInterval(timer);
  }

  #tick(log: Logger): void {
    const nowMs = this.#monotonicMs();
    const blockedMs = this.#lateMs(nowMs);
    this.#asleepMs += blockedMs;
    this.#lastMs = nowMs;
    if (blockedMs < TELL_FROM_MS) return;
    log.warn(
      { code: 'EVENT_LOOP_BLOCKED', blockedMs: Math.round(blockedMs) },
      'this process did nothing else for seconds: it lacks CPU, was frozen, or worked on one thing. What took long meanwhile is not held against the database',
    );
  }

  #lateMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#lastMs - TICK_MS);
  }
}
