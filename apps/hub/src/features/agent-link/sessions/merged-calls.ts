/**
 * Does what many ask for at about the same time in one go: calls that arrive within a few milliseconds, or while the run
 * before them is under way, become one run of a few statements. So a herd of ten thousand agents costs the database runs,
 * not agents, and the slower it is the more each run takes along. A run that fails because of what one call brings is
 * halved until that call is alone; the others do not suffer for it. Without this each agent that comes back after a
 * restart would take a dozen statements of its own, and a connection meanwhile.
 */
import { isOfOneEntry } from '../../../platform/database/sql-state.ts';

export interface MergedCallsParts<Call, Result> {
  readonly mergeMs: number;
  readonly maxCalls: number;
  /** All or nothing; one result a call, in their order. */
  readonly work: (calls: readonly Call[]) => Promise<readonly Result[]>;
}

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

export class MergedCalls<Call, Result> {
  readonly #parts: MergedCallsParts<Call, Result>;
  readonly #waiting: Waiting<Call, Result>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(parts: MergedCallsParts<Call, Result>) {
    this.#parts = parts;
  }

  /** Calls that no run has taken yet. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Rejects with the error of its run, or of the call itself. */
  add(call: Call): Promise<Result> {
    return new Promise((done, failed) => {
      this.#waiting.push({ call, done, failed });
      if (!this.#running) this.#timer ??= setTimeout(() => void this.#run(), this.#parts.mergeMs);
    });
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#running = true;
    while (this.#waiting.length > 0) await this.#settle(this.#waiting.splice(0, this.#parts.maxCalls));
    this.#running = false;
  }

  async #settle(taken: readonly Waiting<Call, Result>[]): Promise<void> {
    try {
      const results = await this.#parts.work(taken.map((one) => one.call));
      for (const [index, one] of taken.entries()) one.done(results[index] as Result);
    } catch (error) {
      // Errors of content come again with the same call alone; of a deadlock one side was let go on.
      if (taken.length === 1 || !isOfOneEntry(error)) {
        for (const one of taken) one.failed(error);
        return;
      }
      const middle = Math.ceil(taken.length / 2);
      await this.#settle(taken.slice(0, middle));
      await this.#settle(taken.slice(middle));
    }
  }
}
