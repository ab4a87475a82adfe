/**
 * Knows whether the database is there and useless: read-only, full, out of memory (outage-health.rules.ts). Statements and
 * small commits that fail raise the doubt, a probe that writes a megabyte proves it. Says so once in the log, and when it is over.
 */
import type { Logger } from 'pino';

import { explainOutage } from '../database/outage-text.ts';
import { nameOutage, type Outage } from '../database/sql-state.ts';
import { isLookDue, isOutageOver, isUseless, NOTHING_SEEN } from './outage-health.rules.ts';

const LOOK_MS = 500;

export interface OutageWatchParts {
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Asks for what statements of the hub need: a transaction that may write, room on the disk, memory. */
  readonly probe: () => Promise<unknown>;
  /** Connections that are open lead to a database that takes no writes; others may lead to one that does. */
  readonly onReadOnly: () => void;
}

export class OutageWatch {
  readonly #parts: OutageWatchParts;
  #outage: Outage | undefined;
  #seen = NOTHING_SEEN;

  constructor(parts: OutageWatchParts) {
    this.#parts = parts;
  }

  /** What keeps this replica from being ready. */
  get current(): Outage | undefined {
    return this.#outage;
  }

  /** Anything failed of this. */
  note(error: unknown): void {
    const outage = nameOutage(error);
    if (!isUseless(outage)) return;
    this.#seen = { ...this.#seen, doubtedMs: this.#parts.nowMs() };
    if (outage === 'DATABASE_READ_ONLY') this.#parts.onReadOnly();
  }

  /** A probe that anybody made failed of this. */
  found(error: unknown): void {
    const outage = nameOutage(error);
    // What is no outage at all (a role that may make no temporary table) says that the database works.
    if (outage === undefined) return this.#passed();
    if (!isUseless(outage)) return;
    this.note(error);
    this.#seen = { ...this.#seen, failedMs: this.#parts.nowMs() };
    if (outage === this.#outage) return;
    this.#outage = outage;
    this.#parts.log.error(
      { code: outage, err: error },
      `${explainOutage(outage)}. Nothing is acknowledged meanwhile, nothing is lost, and this replica is not ready`,
    );
  }

  /** Returns the way to stop it. */
  start(): () => void {
    let isLooking = false;
    const timer = setInterval(() => {
      this.#end();
      if (isLooking || !isLookDue(this.#seen, this.#outage !== undefined, this.#parts.nowMs())) return;
      isLooking = true;
      this.#seen = { ...this.#seen, lookedMs: this.#parts.nowMs() };
      void this.#parts
        .probe()
        .then(
          () => this.#passed(),
          (error: unknown) => this.found(error),
        )
        .finally(() => (isLooking = false));
    }, LOOK_MS).unref();
    return () => clearInterval(timer);
  }

  #passed(): void {
    this.#seen = { ...this.#seen, passedMs: this.#parts.nowMs() };
  }

  #end(): void {
    const { log, nowMs } = this.#parts;
    if (this.#outage === undefined || !isOutageOver(this.#seen, nowMs())) return;
    log.info({ code: this.#outage }, 'the database takes writes again');
    this.#outage = undefined;
  }
}
