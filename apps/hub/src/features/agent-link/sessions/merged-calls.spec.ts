import { describe, expect, it } from 'vitest';

import { MergedCalls } from './merged-calls.ts';

const poison = (code: string): Error => Object.assign(new Error(code), { driverError: { code } });

function create(fails: (calls: readonly string[]) => Error | undefined = () => undefined): {
  readonly merged: MergedCalls<string, string>;
  readonly runs: (readonly string[])[];
} {
  const runs: (readonly string[])[] = [];
  const work = async (calls: readonly string[]): Promise<readonly string[]> => {
    runs.push(calls);
    await new Promise((done) => setTimeout(done, 5));
    const error = fails(calls);
    if (error) throw error;
    return calls.map((call) => call.toUpperCase());
  };
  return { merged: new MergedCalls({ mergeMs: 1, maxCalls: 4, work }), runs };
}

describe('merged calls', () => {
  it('are done together, each with its own result', async () => {
    const { merged, runs } = create();
    expect(await Promise.all(['a', 'b', 'c'].map((call) => merged.add(call)))).toEqual(['A', 'B', 'C']);
    expect(runs).toEqual([['a', 'b', 'c']]);
  });

  it('wait for the run before them, and are taken in parts of a bounded size', async () => {
    const { merged, runs } = create();
    const first = merged.add('a');
    await new Promise((done) => setTimeout(done, 3));
    const rest = ['b', 'c', 'd', 'e', 'f'].map((call) => merged.add(call));
    expect(await Promise.all([first, ...rest])).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
    expect(runs).toEqual([['a'], ['b', 'c', 'd', 'e'], ['f']]);
    expect(merged.length).toBe(0);
  });

  it('do not suffer for one whose content cannot be stored', async () => {
    const { merged } = create((calls) => (calls.includes('bad') ? poison('22P05') : undefined));
    const results = await Promise.allSettled(['a', 'bad', 'b'].map((call) => merged.add(call)));
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual(['A', 'failed', 'B']);
  });

  it('fail together when the database does, and the next are tried', async () => {
    let down = true;
    const { merged, runs } = create(() => (down ? poison('57P01') : undefined));
    const results = await Promise.allSettled(['a', 'b'].map((call) => merged.add(call)));
    expect(results.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    expect(runs).toHaveLength(1);
    down = false;
    expect(await merged.add('c')).toBe('C');
  });
});
