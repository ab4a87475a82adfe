/**
 * How long a key waits after failures: exponential with full jitter (a random point between 0 and the ceiling), so that
 * many objects that failed together do not come back together. The ceiling doubles from `baseMs` to `maxMs`; a success
 * resets it. Without the jitter an API server that returns is hit by every object in the same instant.
 */
export interface BackoffSettings {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Source of chance, 0 ≤ x < 1; given, so that tests can hold it. */
  readonly random: () => number;
}

/** No wait is shorter than this, or a key that fails at once would spin. */
const FLOOR_MS = 50;

export class KeyedBackoff {
  readonly #settings: BackoffSettings;
  readonly #failures = new Map<string, number>();

  constructor(settings: BackoffSettings) {
    this.#settings = settings;
  }

  /** Counts a failure of the key and returns how long to wait, in ms. */
  nextDelayMs(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseMs, maxMs, random } = this.#settings;
    const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));
    return Math.max(FLOOR_MS, Math.round(random() * ceilingMs));
  }

  reset(key: string): void {
    this.#failures.delete(key);
  }

  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }
}

/** Spreads a period by ± `share`, so that periodic work of many keys does not fall into step. */
export const spread = (periodMs: number, random: () => number, share = 0.2): number =>
  Math.round(periodMs * (1 - share + 2 * share * random()));
