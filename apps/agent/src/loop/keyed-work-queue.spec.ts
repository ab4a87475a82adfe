import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyedWorkQueue } from './keyed-work-queue.ts';

/** A queue whose work ends when the test says so. */
const heldQueue = (concurrency: number) => {
  const started: string[] = [];
  const crashes: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const queue = new KeyedWorkQueue({
    concurrency,
    work: (key) =>
      new Promise<void>((resolve, reject) => {
        started.push(key);
        ends.set(key, { resolve, reject });
      }),
    onCrash: (key) => crashes.push(key),
  });
  const finish = async (key: string): Promise<void> => {
    ends.get(key)?.resolve();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  const crash = async (key: string): Promise<void> => {
    ends.get(key)?.reject(new Error('boom'));
    await vi.advanceTimersByTimeAsync(0);
  };
  return { queue, started, crashes, finish, crash };
};

describe('KeyedWorkQueue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('merges equal keys that wait', async () => {
    const { queue, started, finish } = heldQueue(1);
    queue.add('a');
    queue.add('b');
    queue.add('b');
    queue.add('b');
    await finish('a');
    await finish('b');
    expect(started).toEqual(['a', 'b']);
  });

  it('lets namespaces take turns, however many keys one of them has', async () => {
    const { queue, started, finish } = heldQueue(1);
    for (let index = 0; index < 1_000; index += 1) queue.add(`loud/${index}`);
    queue.add('calm/a');
    queue.add('calm/b');
    for (const key of ['loud/0', 'loud/1', 'calm/a', 'loud/2']) await finish(key);
    expect(started.slice(0, 6)).toEqual(['loud/0', 'loud/1', 'calm/a', 'loud/2', 'calm/b'].slice(0, started.length));
  });

  it('gives the next free turn to the namespace with the fewest at work', async () => {
    const { queue, started, finish } = heldQueue(3);
    for (let index = 0; index < 10; index += 1) queue.add(`loud/${index}`);
    for (const name of ['a', 'b', 'c']) queue.add(`calm/${name}`);
    await finish('loud/0');
    await finish('calm/a');
    expect(started).toEqual(['loud/0', 'loud/1', 'loud/2', 'calm/a', 'calm/b']);
  });

  it('gives a key that wakes itself without end one turn in each round', async () => {
    const { queue, started, finish } = heldQueue(1);
    for (const key of ['loud/x', 'calm/a', 'calm/b', 'calm/c']) queue.add(key);
    for (const key of ['loud/x', 'calm/a', 'loud/x', 'calm/b', 'loud/x', 'calm/c']) {
      if (key === 'loud/x') queue.add(key);
      await finish(key);
    }
    expect(started.filter((key) => key !== 'loud/x')).toEqual(['calm/a', 'calm/b', 'calm/c']);
  });

  it('works a key once more when it was added while being worked, and never twice at the same time', async () => {
    const { queue, started, finish } = heldQueue(4);
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(started).toEqual(['a']);
    await finish('a');
    expect(started).toEqual(['a', 'a']);
    await finish('a');
    expect(started).toEqual(['a', 'a']);
  });

  it('works at most the given number of keys at once, in order of arrival', async () => {
    const { queue, started, finish } = heldQueue(2);
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(started).toEqual(['a', 'b']);
    await finish('b');
    expect(started).toEqual(['a', 'b', 'c']);
    expect(queue.depth).toBe(3);
  });

  it('takes the earliest of several delays', async () => {
    const { queue, started } = heldQueue(1);
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 9_000);
    await vi.advanceTimersByTimeAsync(999);
    expect(started).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toEqual(['a']);
  });

  it('goes on with other keys after a crash of the work', async () => {
    const { queue, started, crashes, crash } = heldQueue(1);
    queue.add('a');
    queue.add('b');
    await crash('a');
    expect(crashes).toEqual(['a']);
    expect(started).toEqual(['a', 'b']);
  });

  it('stops when the work under way has ended, and takes nothing more', async () => {
    const { queue, started, finish } = heldQueue(1);
    queue.add('a');
    queue.add('b');
    let stopped = false;
    const done = queue.stop().then(() => {
      stopped = true;
    });
    queue.add('c');
    await Promise.resolve();
    expect(stopped).toBe(false);
    await finish('a');
    await done;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toEqual(['a']);
  });
});
