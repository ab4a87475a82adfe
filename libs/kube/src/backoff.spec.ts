import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackoff, pause } from './backoff.ts';
import { isOlderResourceVersion } from './resource-version.ts';

describe('pauses between attempts', () => {
  it('grow up to the longest and start anew after a success', () => {
    const backoff = createBackoff({ first: 200, longest: 1000 }, () => 1);
    expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([200, 400, 800, 1000, 1000]);
    backoff.reset();
    expect(backoff.next()).toBe(200);
  });

  it('never fall below half of the first, whatever the dice say', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }), (dice) => {
        let at = 0;
        const backoff = createBackoff({ first: 200, longest: 30_000 }, () => dice[at++ % dice.length] ?? 0);
        for (let i = 0; i < 20; i += 1) {
          const ms = backoff.next();
          expect(ms).toBeGreaterThanOrEqual(100);
          expect(ms).toBeLessThanOrEqual(30_000);
        }
      }),
    );
  });

  it('end at once when aborted', async () => {
    const abort = new AbortController();
    const paused = pause(60_000, abort.signal);
    abort.abort();
    await paused;
    await pause(60_000, abort.signal);
  });
});

describe('the order of resource versions', () => {
  it.each([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['18446744073709551614', '18446744073709551615', true],
    ['', '10', false],
    ['x', '10', false],
  ])('%s is older than %s: %s', (a, b, expected) => {
    expect(isOlderResourceVersion(a, b)).toBe(expected);
  });
});
