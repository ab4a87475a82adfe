/** A stretch without any success, in ms of the monotonic clock counted from the start of the measurement. */
export interface Gap {
  readonly ms: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const NONE: Gap = { ms: 0, fromMs: 0, toMs: 0 };

/**
 * The longest time between two successes. Counting begins with the first success; one that never came back is counted up
 * to the moment of asking, so an outage that has not ended cannot look like none.
 */
export class GapMeter {
  readonly #startedAt: number;
  #lastAt: number | undefined;
  #longest: Gap = NONE;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  succeeded(now: number): void {
    this.#note(now);
    this.#lastAt = now;
  }

  longest(now: number): Gap {
    this.#note(now);
    return this.#longest;
  }

  /** Forgets what was measured; the last success stays the beginning of a gap that is on. */
  reset(now: number): Gap {
    const longest = this.longest(now);
    this.#longest = NONE;
    return longest;
  }

  #note(now: number): void {
    const last = this.#lastAt;
    if (last === undefined || now - last <= this.#longest.ms) return;
    this.#longest = { ms: now - last, fromMs: last - this.#startedAt, toMs: now - this.#startedAt };
  }
}
