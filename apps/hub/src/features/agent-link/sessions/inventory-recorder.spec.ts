import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createApart } from '../../../../test/raise-for.ts';
import { type InventoryNote, InventoryRecorder } from './inventory-recorder.ts';

const writes: string[][] = [];
let failing = false;
let recorder: InventoryRecorder;

beforeEach(() => {
  vi.useFakeTimers();
  writes.length = 0;
  failing = false;
  recorder = new InventoryRecorder({
    write: (notes) => {
      if (failing) return Promise.reject(new Error('down'));
      writes.push(notes.map(({ agentId, inventory }) => `${agentId} ${inventory}`));
      return Promise.resolve();
    },
    nowMs: () => performance.now(),
    log: pino({ level: 'silent' }),
    apart: createApart('inventories'),
  });
});
afterEach(() => void vi.useRealTimers());

const note = (agentId: string, inventory: InventoryNote['inventory'], sessionNo = 1): void =>
  recorder.note({ agentId, sessionNo, inventory });

describe('who sees its API server', () => {
  it('is written at once, with others', async () => {
    note('a', 'UNKNOWN');
    note('b', 'SYNCED');
    await vi.advanceTimersByTimeAsync(300);
    expect(writes).toEqual([['a UNKNOWN', 'b SYNCED']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not written each time when it alternates, and ends as it was said last', async () => {
    for (let beat = 0; beat < 40; beat += 1) {
      note('a', beat % 2 === 0 ? 'UNKNOWN' : 'SYNCED');
      await vi.advanceTimersByTimeAsync(300);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(writes.length).toBeLessThanOrEqual(4);
    expect(writes.at(-1)).toEqual(['a SYNCED']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is written at once in a new session', async () => {
    note('a', 'UNKNOWN');
    await vi.advanceTimersByTimeAsync(300);
    note('a', 'UNKNOWN', 2);
    await vi.advanceTimersByTimeAsync(300);
    expect(writes).toHaveLength(2);
  });

  it('is tried again after a failure', async () => {
    failing = true;
    note('a', 'UNKNOWN');
    await vi.advanceTimersByTimeAsync(300);
    failing = false;
    await vi.advanceTimersByTimeAsync(1_100);
    expect(writes).toEqual([['a UNKNOWN']]);
  });
});
