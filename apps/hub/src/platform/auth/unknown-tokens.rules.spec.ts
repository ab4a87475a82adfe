import { describe, expect, it } from 'vitest';

import { BURST, UnknownTokenBudget } from './unknown-tokens.rules.ts';

const takeMany = (budget: UnknownTokenBudget, source: string, count: number, nowMs: number): number =>
  Array.from({ length: count }, () => budget.take(source, nowMs)).filter(Boolean).length;

describe('the budget of unknown tokens', () => {
  it('lets an address look up a burst, then one a second', () => {
    const budget = new UnknownTokenBudget();
    expect(takeMany(budget, 'a', 100, 0)).toBe(BURST);
    expect(takeMany(budget, 'a', 100, 3_000)).toBe(3);
    expect(takeMany(budget, 'b', 100, 3_000)).toBe(BURST);
  });

  it('gives back what a look-up did not use', () => {
    const budget = new UnknownTokenBudget();
    expect(takeMany(budget, 'a', BURST, 0)).toBe(BURST);
    budget.giveBack('a', 0);
    expect(takeMany(budget, 'a', 100, 0)).toBe(1);
  });

  it('keeps no more addresses than it has room for, and forgets those that have asked least lately', () => {
    const budget = new UnknownTokenBudget();
    takeMany(budget, 'first', BURST, 0);
    for (let each = 0; each < 20_000; each += 1) budget.take(`source ${each}`, 1);
    expect(budget.size).toBe(10_000);
    expect(budget.take('first', 1)).toBe(true);
  });
});
