import { describe, expect, it } from 'vitest';

import { isLeftOut } from './left-out.rules.ts';

const failure = (code: string): unknown => ({ driverError: { code } });

describe('a status of which nothing could be stored', () => {
  it.each([
    ['22P05', 1, false, true],
    ['54000', 1, false, true],
    ['XX000', 1, true, false],
    ['XX000', 4, true, true],
    ['XX000', 4, false, false],
    ['XX000', 8, false, true],
    ['42P01', 4, true, true],
    ['42P01', 1_000, false, false],
    ['55P03', 1_000, true, false],
    ['40001', 1_000, true, false],
    ['53100', 1_000, true, false],
  ])('with %s, %i times, while others are stored (%s), is left out: %s', (code, tries, othersStored, expected) => {
    expect(isLeftOut(failure(code), { tries, othersStored })).toBe(expected);
  });
});
