/**
 * Where changes wait for their reader: only the newest is kept, with the number of those it stands for. So a slow
 * consumer costs one object, and can be told how much it missed.
 */
import type { ChangeRow } from './change-log.repository.ts';

export interface Pending {
  readonly change: ChangeRow;
  readonly count: number;
}

export class LatestChange {
  private pending: Pending | undefined;
  private wake: (() => void) | undefined;

  readonly put = (change: ChangeRow): void => {
    this.pending = { change, count: (this.pending?.count ?? 0) + 1 };
    this.wake?.();
  };

  /** The newest change, taken out, as soon as there is one; undefined after `timeoutMs` or when `signal` aborts. */
  async take(timeoutMs: number, signal: AbortSignal): Promise<Pending | undefined> {
    if (!this.pending && !signal.aborted) await this.waitForWake(timeoutMs, signal);
    const pending = this.pending;
    this.pending = undefined;
    return pending;
  }

  private waitForWake(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.wake = done;
    });
  }
}
