/** Carries the steps of a start over a database that takes nobody yet, and says so. The rule is in start-patience.rules.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

import { nameOutage, type Outage } from '../database/sql-state.ts';
import { NOTHING_SPENT, planRetry } from './start-patience.rules.ts';

const TELL_AGAIN_MS = 10_000;

const REASON: Readonly<Record<Outage, string>> = {
  DATABASE_LACKS_PARTITION: 'the database has no partition for the present time yet; it is being made',
  DATABASE_FULL:
    'the database has no free connection (max_connections; each replica takes up to 20): end other clients, or raise it',
  DATABASE_STARTING: 'the database is starting up or shutting down',
  DATABASE_REFUSED: 'nothing listens at the address of the database: is it running, is DATABASE_URL right?',
  DATABASE_UNREACHABLE:
    'the connection to the database is cut or its host is not known: look at the network and DATABASE_URL',
  DATABASE_SILENT: 'the database takes connections and does not answer: it hangs, or a firewall swallows what is sent',
};

export interface StartPatienceParts {
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

export class StartPatience {
  readonly #parts: StartPatienceParts;
  #spent = NOTHING_SPENT;
  #told: { readonly outage: Outage; readonly atMs: number } | undefined;

  constructor(parts: StartPatienceParts) {
    this.#parts = parts;
  }

  /** `work` may be done more than once. Throws its last error when it is no outage, or when patience is at its end. */
  async carry<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const beganMs = this.#parts.nowMs();
      try {
        const done = await work();
        this.#spent = { ...this.#spent, failures: 0 };
        return done;
      } catch (error) {
        const outage = nameOutage(error);
        if (outage === undefined) throw error;
        await this.#wait(error, outage, this.#parts.nowMs() - beganMs);
      }
    }
  }

  async #wait(error: unknown, outage: Outage, attemptMs: number): Promise<void> {
    const { log, nowMs, random, pause = sleep } = this.#parts;
    const plan = planRetry(this.#spent, attemptMs, random());
    if (plan === 'GIVE_UP') throw error;
    this.#spent = plan.spent;
    const isNews = this.#told?.outage !== outage || nowMs() - this.#told.atMs >= TELL_AGAIN_MS;
    if (isNews) {
      const { message } = error as Error;
      const about = { code: outage, err: message, retryInMs: plan.pauseMs, givesUpInMs: plan.leftMs };
      log.warn(about, `${REASON[outage]}. The start goes on when it can`);
      this.#told = { outage, atMs: nowMs() };
    }
    await pause(plan.pauseMs);
  }
}
