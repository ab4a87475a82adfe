/** Asks again and again until there is an answer or the time is up. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface PollLimits {
  readonly withinMs: number;
  readonly everyMs: number;
}

/** The first answer that is not undefined; undefined when there was none in time. Asks at least once. */
export const pollUntil = async <T>(
  { withinMs, everyMs }: PollLimits,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() + everyMs > endMs) return answer;
    await sleep(everyMs);
  }
};
