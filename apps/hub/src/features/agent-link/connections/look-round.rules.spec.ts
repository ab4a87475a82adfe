import { describe, expect, it } from 'vitest';

import { ALL_TIME_MS, chooseLookBackMs, ROUND_POLLS, takeNextOfRound } from './look-round.rules.ts';

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `agent-${index}`);

describe('a round of the poll', () => {
  it.each([1, 400, 3_499, 10_000])('looks at each of %i sessions once in its polls', (count) => {
    const round = idsOf(count);
    const seen: string[] = [];
    let polls = 0;
    for (; round.length > 0; polls += 1) seen.push(...takeNextOfRound(round, count));
    expect(seen).toEqual(idsOf(count));
    expect(polls).toBeLessThanOrEqual(ROUND_POLLS);
  });

  it('looks at all sessions of a small fleet in every poll', () => {
    expect(takeNextOfRound(idsOf(400), 400)).toHaveLength(400);
  });
});

describe('how far a poll looks back', () => {
  it('covers the time since the last poll and transactions that were open then', () => {
    expect(chooseLookBackMs(20_000, 18_500)).toBe(11_500);
    expect(chooseLookBackMs(60_000, 18_500)).toBe(51_500);
  });

  it('is all time when nothing is known of what went before', () => {
    expect(chooseLookBackMs(20_000, undefined)).toBe(ALL_TIME_MS);
  });
});
