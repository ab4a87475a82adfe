import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reconnectDelayMs } from './reconnect-delay.ts';

const lost = { kind: 'LOST', welcomed: false, reason: 'gone' } as const;
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the pause before the next dial', () => {
  it('lies between 1 and 20 s in the first ten minutes, whatever has failed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1000 }), fc.integer({ min: 0, max: 599_999 }), random, (failures, awayMs, dice) => {
        const delay = reconnectDelayMs(lost, { failures, awayMs }, dice);
        expect(delay).toBeGreaterThanOrEqual(1_000);
        expect(delay).toBeLessThanOrEqual(20_000);
      }),
    );
  });

  it('is spread over the whole range, so that a herd does not come at once', () => {
    const delays = [0, 0.25, 0.5, 0.75, 0.999].map((dice) => reconnectDelayMs(lost, { failures: 9, awayMs: 0 }, dice));
    expect(delays.map((delay) => Math.round(delay / 1000))).toEqual([1, 6, 11, 15, 20]);
  });

  it('is short after the first loss and grows to 60 s after ten minutes', () => {
    expect(reconnectDelayMs(lost, { failures: 0, awayMs: 0 }, 0.999)).toBeLessThanOrEqual(4_000);
    expect(reconnectDelayMs(lost, { failures: 50, awayMs: 600_000 }, 0.999)).toBeGreaterThan(59_000);
  });

  it('obeys the hub', () => {
    const about = { welcomed: true, reason: '' };
    const outage = { failures: 3, awayMs: 0 };
    expect(reconnectDelayMs({ kind: 'ASKED', afterMs: 1234, ...about }, outage, 0.5)).toBe(1234);
    expect(reconnectDelayMs({ kind: 'ENROLLED', ...about }, outage, 0.5)).toBe(0);
    expect(reconnectDelayMs({ kind: 'STUCK', code: 'AGENT_REVOKED', ...about }, outage, 0.5)).toBe(60_000);
  });
});
