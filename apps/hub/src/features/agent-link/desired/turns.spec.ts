import { describe, expect, it } from 'vitest';

import { Turns } from './turns.ts';

describe('turns', () => {
  it('run so much at once and no more, in order, whatever fails', async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const work = async (index: number): Promise<number> => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setTimeout(done, 2));
      running -= 1;
      if (index === 1) throw new Error('no');
      return index;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => turns.run(() => work(index))));
    expect(results.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
    expect(await turns.run(() => Promise.resolve('free again'))).toBe('free again');
  });
});
