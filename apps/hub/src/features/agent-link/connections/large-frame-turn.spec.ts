import { MAX_FRAME_BYTES } from '#protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { LargeFrameTurn } from './large-frame-turn.ts';

const LARGE = MAX_FRAME_BYTES + 1;
let waits: number[];
let read: string[];
let turn: LargeFrameTurn;

beforeEach(() => {
  vi.useFakeTimers();
  [waits, read] = [[], []];
  turn = new LargeFrameTurn({ monotonicMs: () => performance.now(), onWait: (pauseMs) => void waits.push(pauseMs) });
});
afterEach(() => void vi.useRealTimers());

const take = (name: string, bytes: number): Promise<void> =>
  turn.take(Buffer.alloc(bytes)).then(() => void read.push(name));

describe('a frame that is larger than allowed', () => {
  it('is read at once when it is the first for a while, as all others are', async () => {
    for (const name of ['a', 'b', 'c']) await take(name, MAX_FRAME_BYTES);
    await take('large', LARGE);
    for (const name of ['d', 'e']) await take(name, MAX_FRAME_BYTES);
    await vi.advanceTimersByTimeAsync(5_000);
    await take('large again', LARGE);
    expect(read).toEqual(['a', 'b', 'c', 'large', 'd', 'e', 'large again']);
    expect(waits).toEqual([]);
  });

  it('waits until five seconds after the one before, and says for how long', async () => {
    await take('first', LARGE);
    await vi.advanceTimersByTimeAsync(2_000);
    void take('second', LARGE).then(() => take('third', LARGE));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(read).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(1);
    expect(read).toEqual(['first', 'second']);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(read).toEqual(['first', 'second', 'third']);
    expect(waits).toEqual([3_000, 5_000]);
  });

  it('keeps nobody waiting once the connection is closed', async () => {
    await take('first', LARGE);
    const second = take('second', LARGE);
    turn.close();
    await second;
    expect(vi.getTimerCount()).toBe(0);
  });
});
