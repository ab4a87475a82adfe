import { describe, expect, it } from 'vitest';

import { takeInTurn } from './take-in-turn.ts';

const batch = (agentId: string, counter: number, items: number) => ({
  entry: { session: { agentId }, batch: { counter, items: { length: items } } },
});
const names = (taken: readonly ReturnType<typeof batch>[]): string[] =>
  taken.map(({ entry }) => `${entry.session.agentId}${entry.batch.counter}`);

describe('the next commit', () => {
  it('takes one batch of each agent before a second of any, in the order of each', () => {
    const flood = Array.from({ length: 8 }, (_, counter) => batch('noisy', counter, 100));
    const waiting = [...flood, batch('a', 0, 1), batch('b', 0, 1), batch('b', 1, 1)];
    expect(names(takeInTurn(waiting, 250))).toEqual(['noisy0', 'a0', 'b0', 'noisy1', 'b1']);
    expect(names(takeInTurn(waiting, 10_000))).toHaveLength(11);
  });

  it('is never empty for a batch that is larger than a commit, and keeps the order when it is full', () => {
    expect(names(takeInTurn([batch('a', 0, 9_000), batch('a', 1, 1), batch('b', 0, 1)], 2_000))).toEqual(['a0']);
    expect(takeInTurn([], 10)).toEqual([]);
  });

  it("counts numbers of other agents' objects as it counts items", () => {
    const guests = { entry: { session: { agentId: 'a' }, batch: { counter: 0, items: [], guests: { length: 150 } } } };
    expect(takeInTurn([guests, batch('b', 0, 100)], 200)).toEqual([guests]);
  });
});
