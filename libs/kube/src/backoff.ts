/**
 * Pauses between attempts: each uniformly between half of the first pause and a ceiling that doubles up to `longest`.
 * The jitter keeps a fleet that lost the same server from returning in step; the floor keeps a lucky draw from spinning.
 */
export interface BackoffLimits {
  readonly first: number;
  readonly longest: number;
}

export interface Backoff {
  /** Ms to wait before the next attempt. */
  next(): number;
  reset(): void;
}

export function createBackoff({ first, longest }: BackoffLimits, random: () => number): Backoff {
  let ceiling = first;
  return {
    next() {
      const floor = first / 2;
      const pause = floor + random() * (ceiling - floor);
      ceiling = Math.min(longest, ceiling * 2);
      return Math.round(pause);
    },
    reset() {
      ceiling = first;
    },
  };
}

/** Resolves after `ms`, or at once when the signal is or gets aborted; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}
