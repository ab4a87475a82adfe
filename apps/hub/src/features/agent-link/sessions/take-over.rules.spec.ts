import { describe, expect, it } from 'vitest';

import { isCloned } from './take-over.rules.ts';

const ab = { fromInstance: 'a', toInstance: 'b' };
const ba = { fromInstance: 'b', toInstance: 'a' };

describe('take-overs', () => {
  it('of two instances that take turns are a clone from the fourth on', () => {
    expect(isCloned([ab, ba, ab], ab)).toBe(false);
    expect(isCloned([ab, ba, ab, ba], ba)).toBe(true);
  });

  it('by ever new instances are restarts', () => {
    const chain = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => ({ fromInstance: name, toInstance: `${index}` }));
    expect(isCloned(chain, chain[5] ?? ab)).toBe(false);
  });
});
