import { describe, expect, it } from 'vitest';

import { untilPartitioned } from './missing-partition.ts';

const missing = (): Error => Object.assign(new Error('no partition'), { driverError: { code: '23514' } });

describe('work that meets a gap between partitions', () => {
  it('is done anew until the partition is there', async () => {
    let tries = 0;
    const pauses: number[] = [];
    const work = (): Promise<string> => {
      tries += 1;
      return tries < 4 ? Promise.reject(missing()) : Promise.resolve('done');
    };
    expect(await untilPartitioned(work, (ms) => Promise.resolve(pauses.push(ms)))).toBe('done');
    expect(pauses).toHaveLength(3);
  });

  it('is given up after some seconds, and at once when it fails of anything else', async () => {
    let waitedMs = 0;
    const pause = (ms: number): Promise<unknown> => Promise.resolve((waitedMs += ms));
    await expect(untilPartitioned(() => Promise.reject(missing()), pause)).rejects.toThrow('no partition');
    expect(waitedMs).toBeGreaterThanOrEqual(2_500);
    waitedMs = 0;
    const other = Object.assign(new Error('a check'), { driverError: { code: '23514', constraint: 'agent_check' } });
    await expect(untilPartitioned(() => Promise.reject(other), pause)).rejects.toThrow('a check');
    expect(waitedMs).toBe(0);
  });
});
