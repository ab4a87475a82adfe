import { describe, expect, it } from 'vitest';
import { countRun, isWorthCompiling, spendOnCompiling, type Runs, type Spent } from './compile.rules.ts';

const runsUntilCompiled = (fields: number, everyMs: number, most = 100): number | undefined => {
  let runs: Runs | undefined;
  for (let run = 1; run <= most; run += 1) {
    runs = countRun(runs, run * everyMs);
    if (isWorthCompiling(fields, runs)) return run;
  }
  return undefined;
};

describe('a document', () => {
  it.each([
    [10, 3],
    [50, 4],
    [200, 10],
    [500, 22],
  ])('of %i fields is compiled at run %i within a minute', (fields, run) => {
    expect(runsUntilCompiled(fields, 100)).toBe(run);
  });

  it('that is large, or runs seldom, is not compiled', () => {
    expect(runsUntilCompiled(501, 1)).toBeUndefined();
    expect(runsUntilCompiled(50, 30_000)).toBeUndefined();
  });
});

describe('the budget of a principal for compiling', () => {
  it('is 2,000 fields at once, and comes back within a minute', () => {
    let spent: Spent | undefined;
    for (let times = 0; times < 4; times += 1) spent = spendOnCompiling(spent, 500, 0);
    expect(spent).toMatchObject({ fields: 2_000 });
    expect(spendOnCompiling(spent, 1, 0)).toBeUndefined();
    expect(spendOnCompiling(spent, 500, 15_000)).toMatchObject({ fields: 2_000 });
    expect(spendOnCompiling(spent, 2_000, 60_000)).toMatchObject({ fields: 2_000 });
  });
});
