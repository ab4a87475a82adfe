import { describe, expect, it } from 'vitest';

import { BURST, UnknownTokenBudget } from './unknown-tokens.rules.ts';

/** How many of so many guesses were looked up. */
function guess(budget: UnknownTokenBudget, source: string, count: number, nowMs: number): number {
  let lookedUp = 0;
  for (let each = 0; each < count; each += 1) {
    if (!budget.mayLookUp(source, nowMs)) continue;
    budget.noteUnknown(source, nowMs);
    lookedUp += 1;
  }
  return lookedUp;
}

describe('the budget of unknown tokens', () => {
  it('lets an address look up a burst, then one a second', () => {
    const budget = new UnknownTokenBudget();
    expect(guess(budget, 'a', 100, 0)).toBe(BURST);
    expect(guess(budget, 'a', 100, 3_000)).toBe(3);
    expect(guess(budget, 'b', 100, 3_000)).toBe(BURST);
  });

  it('keeps no more addresses than it has room for, and forgets those that have asked least lately', () => {
    const budget = new UnknownTokenBudget();
    guess(budget, 'first', BURST, 0);
    for (let each = 0; each < 20_000; each += 1) budget.noteUnknown(`source ${each}`, 1);
    expect(budget.size).toBe(10_000);
    expect(budget.mayLookUp('first', 1)).toBe(true);
  });
});
