import { describe, expect, it } from 'vitest';

import { inHalves } from './in-halves.ts';

const failure = (code: string): unknown => Object.assign(new Error(code), { driverError: { code } });

describe('work in halves', () => {
  it('is done once for all when it passes', async () => {
    const runs: number[] = [];
    expect(await inHalves([1, 2, 3], (some) => Promise.resolve(runs.push(some.length)))).toEqual([]);
    expect(await inHalves([], () => Promise.reject(new Error('not called')))).toEqual([]);
    expect(runs).toEqual([3]);
  });

  it('is done for all but those that it fails for, in a handful of runs', async () => {
    const done: number[] = [];
    let runs = 0;
    const failed = await inHalves([...Array(100).keys()], (some) => {
      runs += 1;
      if (some.includes(17)) return Promise.reject(failure('XX000'));
      return Promise.resolve(done.push(...some));
    });
    expect(failed.map(({ entry }) => entry)).toEqual([17]);
    expect(done).toHaveLength(99);
    expect(runs).toBeLessThan(20);
  });

  it('throws at once what keeps everybody from the database', async () => {
    let runs = 0;
    const work = (): Promise<never> => ((runs += 1), Promise.reject(failure('57P01')));
    await expect(inHalves([1, 2, 3, 4], work)).rejects.toThrow('57P01');
    expect(runs).toBe(1);
  });
});
