import { describe, expect, it } from 'vitest';
import { chooseDialect, type Dialect, PROTOCOL_1, SPOKEN_DIALECTS } from './dialects.ts';
import { PROTOCOL_VERSION } from './messages.ts';

const speak = (...versions: number[]): Dialect[] => versions.map((version) => ({ ...PROTOCOL_1, version }));

describe('rule 14: the version that two sides choose', () => {
  it.each<[string, number[], number[], number | undefined]>([
    ['both new: the newest', [2, 1], [2, 1], 2],
    ['an old agent at a new hub: the previous', [2, 1], [1], 1],
    ['a new agent at an old hub: the previous', [1], [2, 1], 1],
    ['in any order of the lists', [1, 2, 3], [3, 1, 2], 3],
    ['an agent of a year ago: none', [9, 8], [2, 1], undefined],
    ['an agent of years to come: none', [2, 1], [9, 8], undefined],
    ['nothing said: none', [2, 1], [], undefined],
  ])('%s', (_, ours, theirs, expected) => {
    expect(chooseDialect(speak(...ours), theirs)?.version).toBe(expected);
    // Whoever chooses, it is the same.
    expect(chooseDialect(speak(...theirs), ours)?.version).toBe(expected);
  });

  it('is the current one between two sides of today', () => {
    expect(chooseDialect(SPOKEN_DIALECTS, [PROTOCOL_VERSION])?.version).toBe(PROTOCOL_VERSION);
  });
});
