import { describe, expect, it } from 'vitest';
import { KeyedBackoff, spread } from './backoff.ts';

const almostOne = () => 0.999_999;

describe('KeyedBackoff', () => {
  it('doubles the ceiling for each failure of one key up to the maximum', () => {
    const backoff = new KeyedBackoff({ baseMs: 100, maxMs: 1_000, random: almostOne });
    const delays = [1, 2, 3, 4, 5, 6].map(() => backoff.nextDelayMs('a'));
    expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('keeps keys apart and starts again after a success', () => {
    const backoff = new KeyedBackoff({ baseMs: 100, maxMs: 1_000, random: almostOne });
    backoff.nextDelayMs('a');
    backoff.nextDelayMs('a');
    expect(backoff.nextDelayMs('b')).toBe(100);
    expect(backoff.failuresOf('a')).toBe(2);
    backoff.reset('a');
    expect(backoff.nextDelayMs('a')).toBe(100);
  });

  it('takes any point between the floor and the ceiling, never zero', () => {
    const backoff = new KeyedBackoff({ baseMs: 100, maxMs: 1_000, random: () => 0 });
    expect(backoff.nextDelayMs('a')).toBeGreaterThan(0);
    const half = new KeyedBackoff({ baseMs: 400, maxMs: 1_000, random: () => 0.5 });
    expect(half.nextDelayMs('a')).toBe(200);
  });

  it('does not overflow after very many failures', () => {
    const backoff = new KeyedBackoff({ baseMs: 100, maxMs: 60_000, random: almostOne });
    for (let i = 0; i < 2_000; i += 1) backoff.nextDelayMs('a');
    expect(backoff.nextDelayMs('a')).toBe(60_000);
  });
});

describe('spread', () => {
  it('stays within the share on both sides', () => {
    expect(spread(1_000, () => 0)).toBe(800);
    expect(spread(1_000, () => 0.5)).toBe(1_000);
    expect(spread(1_000, almostOne)).toBe(1_200);
  });
});
