import { describe, expect, it } from 'vitest';
import { AGENT_LIMITS, chooseFitting, findExcess, type IncomingObject } from './agent-limits.rules.ts';

const limits = { localObjects: 3, localBytes: 100 };
const fresh = (key: string, bytes: number): IncomingObject => ({ key, bytes, storedBytes: undefined });
const change = (key: string, bytes: number, storedBytes: number): IncomingObject => ({ key, bytes, storedBytes });

describe('local objects of an agent', () => {
  it.each([
    [
      'up to the limit all fit',
      { objects: 0, bytes: 0 },
      [fresh('a', 50), fresh('b', 25), fresh('c', 25)],
      ['a', 'b', 'c'],
    ],
    ['beyond the count a new one does not', { objects: 2, bytes: 2 }, [fresh('a', 1), fresh('b', 1)], ['a']],
    [
      'beyond the bytes a new one does not, a smaller one behind it does',
      { objects: 1, bytes: 90 },
      [fresh('a', 11), fresh('b', 10)],
      ['b'],
    ],
    [
      'a change of what is stored needs no place',
      { objects: 3, bytes: 30 },
      [change('a', 10, 10), fresh('b', 1)],
      ['a'],
    ],
    ['a change that grows beyond the bytes does not fit', { objects: 1, bytes: 95 }, [change('a', 20, 10)], []],
    ['a change that shrinks makes room', { objects: 2, bytes: 100 }, [change('a', 1, 50), fresh('b', 49)], ['a', 'b']],
    ['of an agent that is over, what does not grow fits', { objects: 9, bytes: 900 }, [change('a', 10, 10)], ['a']],
  ])('%s', (_what, used, incoming, keys) => {
    expect([...chooseFitting(used, incoming, limits)]).toEqual(keys);
  });

  it('say how much of what earlier sessions told has to go for all of them', () => {
    expect(findExcess({ objects: 3, bytes: 90 }, [fresh('a', 20), change('b', 1, 1)], limits)).toEqual({
      objects: 1,
      bytes: 10,
    });
    expect(findExcess({ objects: 0, bytes: 0 }, [fresh('a', 20)], limits)).toEqual({ objects: 0, bytes: 0 });
  });

  it('are 5,000 of 4 KiB at least, so that no honest agent is cut', () => {
    const all = Array.from({ length: 5_000 }, (_, at) => fresh(`o${at}`, 4_096));
    expect(chooseFitting({ objects: 0, bytes: 0 }, all, AGENT_LIMITS).size).toBe(5_000);
  });
});
