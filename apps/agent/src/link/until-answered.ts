/**
 * Repeats work that the member's API server did not answer, or that this process may not do just now, until it is done or
 * the session ends. Full jitter between 1 and 10 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#domain';
import { KubeError } from '#kube';
import { MemberApiDownError } from './classify-kube-error.ts';
import { FencedError } from './member-api.ts';
import type { Log } from './ports.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

export interface Patience {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/** Rejects with the work's own error when a repetition cannot help, and with the abort when the session ends. */
export async function untilAnswered<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
  const { signal, log, random } = patience;
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      log(tries === 0 ? 'warn' : 'debug', "the member's API server gives no answer; trying again", {
        code: 'MEMBER_API_DOWN',
        error: String(error),
      });
    }
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
    await sleep(FIRST_PAUSE_MS / 2 + random() * (longest - FIRST_PAUSE_MS / 2), undefined, { signal });
  }
}

const isTemporary = (error: unknown): boolean =>
  error instanceof MemberApiDownError ||
  error instanceof FencedError ||
  (error instanceof KubeError && !error.isAborted);
