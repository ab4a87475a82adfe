import { describe, expect, it } from 'vitest';
import { EMPTY_STATE } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import { countDeleteOf, otherDeletesMs } from './delete-count.ts';

/** A store whose durable writes fail while told so. */
class Store {
  current: AgentState = EMPTY_STATE;
  readonly countedDeletes = new Map<string, number>();
  failing = false;

  change(step: (state: AgentState) => AgentState): void {
    this.current = step(this.current);
  }

  changeDurably(step: (state: AgentState) => AgentState): Promise<void> {
    this.change(step);
    return this.failing ? Promise.reject(new Error('no answer')) : Promise.resolve();
  }
}

describe('the count of deletes', () => {
  it('is of objects, not of tries, and the last try counts', async () => {
    const store = new Store();
    await countDeleteOf(store, 'k1', 1_000);
    await countDeleteOf(store, 'k1', 2_000);
    await countDeleteOf(store, 'k2', 3_000);
    expect(store.current.recentDeletesMs).toEqual([2_000, 3_000]);
    expect(otherDeletesMs(store, 'k1')).toEqual([3_000]);
    expect(otherDeletesMs(store, 'k3')).toEqual([2_000, 3_000]);
  });

  it('does not grow by a write that failed', async () => {
    const store = new Store();
    store.failing = true;
    for (const nowMs of [1_000, 2_000, 3_000])
      await expect(countDeleteOf(store, 'k1', nowMs)).rejects.toThrow('no answer');
    expect(store.current.recentDeletesMs).toEqual([]);
  });

  it('keeps what an earlier try had counted, since that may have deleted', async () => {
    const store = new Store();
    await countDeleteOf(store, 'k1', 1_000);
    store.failing = true;
    await expect(countDeleteOf(store, 'k1', 2_000)).rejects.toThrow('no answer');
    expect(store.current.recentDeletesMs).toEqual([1_000]);
    expect(otherDeletesMs(store, 'k2')).toEqual([1_000]);
  });

  it('forgets which object was counted once that counts no more', async () => {
    const store = new Store();
    await countDeleteOf(store, 'k1', 1_000);
    await countDeleteOf(store, 'k2', 301_000);
    expect([...store.countedDeletes.keys()]).toEqual(['k2']);
    expect(store.current.recentDeletesMs).toEqual([301_000]);
  });
});
