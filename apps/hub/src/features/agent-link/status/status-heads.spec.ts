import { describe, expect, it } from 'vitest';

import { judgeEntries } from './status-heads.ts';
import type { StatusEntry } from './status-entry.ts';

const entry = (counter: number, sessionNo = 2): StatusEntry => ({
  session: { agentId: 'a', sessionNo },
  batch: { counter, items: [] },
});
/** What a commit of these batches is, with the head at (session, counter) before it. */
function judge(entries: readonly StatusEntry[], headSession: number, headCounter: number) {
  const { valid, fenced, behind } = judgeEntries(entries, new Map([['a 2', { headSession, headCounter }]]));
  return { valid: valid.map(({ batch }) => batch.counter), fenced: [...fenced], behind: [...behind] };
}
const right = (valid: readonly number[]) => ({ valid, fenced: [], behind: [] });

describe('the batches of a commit', () => {
  it('are right when each follows the one before, in the session or as its first', () => {
    expect(judge([entry(0), entry(1)], 1, 77)).toEqual(right([0, 1]));
    expect(judge([entry(5), entry(6)], 2, 4)).toEqual(right([5, 6]));
  });

  it('are right when they come again: a commit whose answer was lost, or a part of one that was halved', () => {
    expect(judge([entry(4)], 2, 4)).toEqual(right([4]));
  });

  it('are left alone when a later one is stored', () => {
    expect(judge([entry(3), entry(5)], 2, 4)).toEqual(right([5]));
  });

  it('of another session are fenced, those of the present one are not', () => {
    expect(judge([entry(9, 1), entry(0)], 1, 8)).toEqual({ valid: [0], fenced: ['a 1'], behind: [] });
  });

  it.each([
    ['in the session', [entry(6)], 2, 4],
    ['at its begin', [entry(1)], 1, 9],
    ['among them', [entry(5), entry(7)], 2, 4],
  ] as const)('tell of a loss when one is missing %s', (_, entries, session, counter) => {
    expect(judge(entries, session, counter)).toMatchObject({ fenced: [], behind: ['a 2'] });
  });
});
