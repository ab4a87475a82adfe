import { describe, expect, it } from 'vitest';

import { ANNOUNCE_NEXT_BEFORE_MS, ANNOUNCED_FOR_MS, decideOwnCa, USE_NEXT_BEFORE_MS } from './own-ca.rules.ts';

const NOW = Date.UTC(2046, 0, 1);
/** `nextAgeMs`: absent when there is no next CA. */
function decide(leftMs: number, nextAgeMs?: number, wish: Parameters<typeof decideOwnCa>[0]['wish'] = 'keep'): string {
  const next = nextAgeMs === undefined ? {} : { nextMadeMs: NOW - nextAgeMs };
  return decideOwnCa({ wish, nowMs: NOW, endMs: NOW + leftMs, ...next });
}

describe('the hub’s own CA', () => {
  it('is made when there is none', () => {
    expect(decideOwnCa({ wish: 'use-next', nowMs: NOW })).toBe('MAKE_CURRENT');
  });

  it('stays while it is far from its end and nobody asks', () => {
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS)).toBe('KEEP');
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS, ANNOUNCED_FOR_MS)).toBe('KEEP');
  });

  it('gets a next one two years before its end, which is used half a year before it', () => {
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS - 1)).toBe('MAKE_NEXT');
    expect(decide(USE_NEXT_BEFORE_MS, ANNOUNCED_FOR_MS)).toBe('KEEP');
    expect(decide(USE_NEXT_BEFORE_MS - 1, ANNOUNCED_FOR_MS)).toBe('USE_NEXT');
  });

  it('is not followed by one that agents had no time to hear of, unless it ends', () => {
    expect(decide(USE_NEXT_BEFORE_MS - 1, ANNOUNCED_FOR_MS - 1)).toBe('KEEP');
    expect(decide(3600_000, 0)).toBe('USE_NEXT');
  });

  it('gets a next one on request, and never a second; without one there is nothing to use', () => {
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS, undefined, 'announce-next')).toBe('MAKE_NEXT');
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS, 0, 'announce-next')).toBe('KEEP');
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS, 0, 'use-next')).toBe('USE_NEXT');
    expect(decide(ANNOUNCE_NEXT_BEFORE_MS, undefined, 'use-next')).toBe('KEEP');
  });
});
