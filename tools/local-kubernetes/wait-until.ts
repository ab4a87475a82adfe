import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from './part.ts';

const POLL_INTERVAL_MS = 50;

export interface WaitOptions {
  /** What is waited for, as the end of "no … within 60 s". */
  what: string;
  timeoutMs: number;
  /** The parts this depends on: when one of them ends, waiting is over; the tails of their logs go into the error. */
  parts: readonly Part[];
}

/** Polls until the condition holds. A condition that throws counts as not yet true. */
export async function waitUntil(condition: () => Promise<boolean>, options: WaitOptions): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  const exitsBefore = options.parts.map((part) => part.exits);
  let lastError = '';
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
      lastError = '';
    } catch (error) {
      lastError = error instanceof Error ? `\nlast attempt: ${error.message}` : '';
    }
    const dead = options.parts.find((part, i) => part.exits > (exitsBefore[i] ?? 0));
    if (dead) throw new Error(`${dead.name} ended while waiting for ${options.what}\n${await dead.logTail()}`);
    await sleep(POLL_INTERVAL_MS);
  }
  const tails = await Promise.all(options.parts.map((part) => part.logTail()));
  throw new Error(`no ${options.what} within ${options.timeoutMs / 1000} s${lastError}\n${tails.join('\n')}`);
}
