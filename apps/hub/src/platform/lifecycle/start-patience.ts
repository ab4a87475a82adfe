/** Carries the steps of a start over a database that takes nobody yet, and says so. The rule is in start-patience.rules.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

import { explainOutage } from '../database/outage-text.ts';
import { nameOutage, type Outage } from '../database/sql-state.ts';
import { NOTHING_SPENT, planRetry } from './start-patience.rules.ts';

const TELL_AGAIN_MS = 10_000;

/** These wait for a person: a start that goes on trying would only hide what to do. */
const IN_VAIN: ReadonlySet<Outage> = new Set(['DATABASE_LOGIN_REFUSED', 'DATABASE_MISSING', 'DATABASE_CORRUPTED']);

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

  /** `work` may be done more than once. Throws its last error when it is no outage, when only a person can end it, or when patience is at its end. */
  async carry<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const beganMs = this.#parts.nowMs();
      try {
        const done = await work();
        this.#spent = { ...this.#spent, failures: 0 };
        return done;
      } catch (error) {
        const outage = nameOutage(error);
        if (outage === undefined || IN_VAIN.has(outage)) throw error;
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
      log.warn(about, `${explainOutage(outage)}. The start goes on when it can`);
      this.#told = { outage, atMs: nowMs() };
    }
    await pause(plan.pauseMs);
  }
}
