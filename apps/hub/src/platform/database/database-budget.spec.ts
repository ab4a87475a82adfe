import { describe, expect, it } from 'vitest';
import { judgeSize } from './database-budget.ts';

describe('the size of the database', () => {
  it.each([
    [10, undefined, 'NO_BUDGET'],
    [69, 100, 'WITHIN'],
    [70, 100, 'NEARLY_FULL'],
    [99, 100, 'NEARLY_FULL'],
    [100, 100, 'OVER'],
  ])('%i of %s is %s', (bytes, budget, verdict) => {
    expect(judgeSize(bytes, budget)).toBe(verdict);
  });
});
