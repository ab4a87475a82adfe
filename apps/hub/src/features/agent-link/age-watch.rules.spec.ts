import { describe, expect, it } from 'vitest';

import { findConcerns } from './age-watch.rules.ts';

describe('a replica', () => {
  it.each([
    [{ statusMs: 0, foldMs: null, foldsApart: 0 }, []],
    [{ statusMs: 60_000, foldMs: 60_000, foldsApart: 0 }, []],
    [{ statusMs: 60_001, foldMs: 500, foldsApart: 0 }, ['STATUS_NOT_STORED']],
    [{ statusMs: 0, foldMs: 60_001, foldsApart: 2 }, ['COUNTS_NOT_FOLDED']],
    [{ statusMs: 0, foldMs: 500, foldsApart: 1 }, ['COUNTS_NOT_FOLDED']],
    [{ statusMs: 90_000, foldMs: 90_000, foldsApart: 0 }, ['STATUS_NOT_STORED', 'COUNTS_NOT_FOLDED']],
  ])('of which %j is known says %j', (ages, codes) => {
    expect(findConcerns(ages).map(({ code }) => code)).toEqual(codes);
  });
});
