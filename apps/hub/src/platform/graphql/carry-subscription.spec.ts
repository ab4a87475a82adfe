import { describe, expect, it } from 'vitest';
import { carrySubscription } from './carry-subscription.ts';

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve));

describe('the values of a subscription', () => {
  it.each(['return', 'throw'] as const)('end by %s while the next one is waited for', async (way) => {
    let cleanedUp = false;
    const values = carrySubscription(async function* (signal) {
      try {
        yield 1;
        await untilAborted(signal);
      } finally {
        cleanedUp = true;
      }
    });
    expect(await values.next()).toEqual({ done: false, value: 1 });
    const next = values.next();
    await values[way]?.(new Error('left')).catch(() => undefined);
    expect((await next).done).toBe(true);
    expect(cleanedUp).toBe(true);
  });
});
