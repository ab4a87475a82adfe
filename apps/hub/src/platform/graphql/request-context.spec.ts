import { describe, expect, it } from 'vitest';
import { Loaders } from './request-context.ts';

const owner = {};

describe('what is asked once in a request', () => {
  it('is read once for equal questions of one owner, also while it is being read', async () => {
    const loaders = new Loaders({ keep: true });
    let reads = 0;
    const ask = (asker: object, question: object): Promise<number> =>
      loaders.once(asker, question, async () => (reads += 1));
    const answers = await Promise.all([
      ask(owner, { a: 1 }),
      ask(owner, { a: 1 }),
      ask(owner, { a: 2 }),
      ask({}, { a: 1 }),
    ]);
    expect(answers).toEqual([1, 1, 2, 3]);
    expect(await ask(owner, { a: 1 })).toBe(1);
  });

  it('is read each time in a subscription, which lives long', async () => {
    const loaders = new Loaders({ keep: false });
    let reads = 0;
    for (let each = 0; each < 2; each += 1) await loaders.once(owner, {}, async () => (reads += 1));
    expect(reads).toBe(2);
  });
});
