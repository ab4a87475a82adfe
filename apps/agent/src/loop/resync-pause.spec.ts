import { describe, expect, it } from 'vitest';
import { LOOKS_PER_SECOND, resyncPauseMs } from './resync-pause.ts';

describe('the pause between two looks at a RedisCluster at rest', () => {
  it.each([0, 1, 50, 200])('is ten seconds for %i', (count) => {
    expect(resyncPauseMs(count)).toBe(10_000);
  });

  it.each([201, 1_000, 5_000])('grows with %i, so that all of them together stay within the budget', (count) => {
    expect((count * 1_000) / resyncPauseMs(count)).toBeCloseTo(LOOKS_PER_SECOND);
  });
});
