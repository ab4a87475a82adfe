import { describe, expect, it } from 'vitest';

import { BREAKER_WINDOW_MS, releaseTombstones } from './delete-breaker.rules.ts';

const limits = { perAgent: 3, fleet: 20 };
const NOW = 10_000_000;

describe('the delete breaker', () => {
  it('lets the first three of an agent go', () => {
    expect(releaseTombstones(3, { agentMs: [], fleetMs: [] }, limits, NOW)).toEqual({ allowed: 3 });
  });

  it('holds the fourth until the oldest leaves the window', () => {
    const agentMs = [NOW - 100_000, NOW - 50_000, NOW - 1_000];
    expect(releaseTombstones(1, { agentMs, fleetMs: agentMs }, limits, NOW)).toEqual({
      allowed: 0,
      nextAtMs: NOW - 100_000 + BREAKER_WINDOW_MS,
    });
  });

  it('lets a part of them go', () => {
    const agentMs = [NOW - 100_000];
    expect(releaseTombstones(5, { agentMs, fleetMs: agentMs }, limits, NOW)).toMatchObject({ allowed: 2 });
  });

  it('counts the whole fleet', () => {
    const fleetMs = Array.from({ length: 20 }, (_, index) => NOW - 200_000 + index);
    expect(releaseTombstones(1, { agentMs: [], fleetMs }, limits, NOW)).toEqual({
      allowed: 0,
      nextAtMs: NOW - 200_000 + BREAKER_WINDOW_MS,
    });
  });
});
