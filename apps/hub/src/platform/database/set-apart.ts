/**
 * Owners (agents, member clusters) whose work fails while that of all others goes on. Each is tried again after a pause that
 * grows, so that the others lose little by it, and is named in the log once until it passes. Without it one owner whose
 * rows cannot be written stops the work for all, again and again.
 */
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

export interface SetApartParts {
  /** What is done for each owner, as the metric and the log name it. */
  readonly work: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}

export interface Failures {
  /** In a row. */
  readonly tries: number;
  readonly sinceMs: number;
}

type Apart = Failures & { readonly untilMs: number };

export class SetApart {
  readonly #parts: SetApartParts;
  readonly #apart = new Map<string, Apart>();

  constructor(parts: SetApartParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#apart.size;
  }

  /** Those whose pause runs. */
  get waiting(): readonly string[] {
    return [...this.#apart.keys()].filter((owner) => this.waits(owner));
  }

  /** Its pause runs: it is not to be tried now. */
  waits(owner: string): boolean {
    const apart = this.#apart.get(owner);
    return apart !== undefined && this.#parts.nowMs() < apart.untilMs;
  }

  /** When the next one is due; undefined: none is set apart. */
  nextInMs(): number | undefined {
    if (this.#apart.size === 0) return undefined;
    const nextMs = Math.min(...[...this.#apart.values()].map(({ untilMs }) => untilMs));
    return Math.max(0, nextMs - this.#parts.nowMs());
  }

  /** How often it has failed in a row, and since when. */
  failuresOf(owner: string): Failures {
    return this.#apart.get(owner) ?? { tries: 0, sinceMs: this.#parts.nowMs() };
  }

  /** Returns its failures with this one. */
  fail(owner: string, error: unknown): Failures {
    const { work, log, nowMs } = this.#parts;
    const before = this.#apart.get(owner);
    const tries = (before?.tries ?? 0) + 1;
    const sinceMs = before?.sinceMs ?? nowMs();
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
    this.#apart.set(owner, { tries, sinceMs, untilMs: nowMs() + pauseMs });
    if (before === undefined) {
      log.error(
        { code: 'SET_APART', work, owner, err: error },
        'work fails for one owner; it is set apart and tried again after growing pauses, and the others go on',
      );
    }
    this.#tell();
    return { tries, sinceMs };
  }

  pass(owner: string): void {
    if (!this.#apart.delete(owner)) return;
    this.#parts.log.info({ work: this.#parts.work, owner }, 'work for an owner that was set apart passes again');
    this.#tell();
  }

  #tell(): void {
    this.#parts.metrics.setApart.set({ work: this.#parts.work }, this.#apart.size);
  }
}
