/**
 * Intervals of a state machine run that only the run itself lets pass. Several runs go on side by side in one process, so
 * each has its own: whoever sets an interval inside a run gets it from there. Outside of runs everything is real.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<MachineTimers>();
const real = { setInterval: globalThis.setInterval, clearInterval: globalThis.clearInterval };

class HeldInterval {
  readonly work: () => void;
  readonly everyMs: number;
  dueMs: number;

  constructor(work: () => void, everyMs: number, nowMs: number) {
    this.work = work;
    this.everyMs = everyMs;
    this.dueMs = nowMs + everyMs;
  }

  unref(): this {
    return this;
  }
}

export class MachineTimers {
  readonly #held = new Set<HeldInterval>();
  #nowMs = 0;

  /** Runs the work with intervals of its own. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return current.run(this, work);
  }

  add(work: () => void, everyMs: number): HeldInterval {
    const interval = new HeldInterval(work, everyMs, this.#nowMs);
    this.#held.add(interval);
    return interval;
  }

  clear(interval: HeldInterval): void {
    this.#held.delete(interval);
  }

  /** What falls due within this time is done, in its order. */
  pass(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const next = [...this.#held].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#nowMs = next.dueMs;
      next.dueMs += next.everyMs;
      next.work();
    }
    this.#nowMs = endMs;
  }
}

/** Returns the way back. */
export function holdIntervals(): () => void {
  globalThis.setInterval = ((work: () => void, everyMs = 1, ...rest: unknown[]) =>
    current.getStore()?.add(work, everyMs) ??
    (real.setInterval as (...all: unknown[]) => unknown)(work, everyMs, ...rest)) as typeof setInterval;
  globalThis.clearInterval = (interval: unknown) => {
    if (interval instanceof HeldInterval) current.getStore()?.clear(interval);
    else real.clearInterval(interval as NodeJS.Timeout);
  };
  return () => void Object.assign(globalThis, real);
}
