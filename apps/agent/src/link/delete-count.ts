/**
 * Counts deletes without approval for the agent's own breaker: once an object, however often it is tried. A delete is
 * counted, durably, before it is sent; while the API server does not answer both are tried again and again. Were each try
 * counted, one object that is not even deleted would use up what others may have. Invariant: a delete that may have been
 * carried out stays counted.
 */
import type { AgentStateStore } from './agent-state-store.ts';
import { countDelete, takeBackDelete } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import { DELETE_WINDOW_MS } from './decide-tombstone.ts';

type Store = Pick<AgentStateStore, 'change' | 'changeDurably' | 'countedDeletes' | 'current'>;

const without = (state: AgentState, countedMs: number | undefined): AgentState =>
  countedMs === undefined ? state : takeBackDelete(state, countedMs);

/** When deletes were counted, but for one of this very object: that is no reason against itself. */
export const otherDeletesMs = ({ current, countedDeletes }: Store, uid: string | undefined): readonly number[] =>
  without(current, countedDeletes.get(uid ?? '')).recentDeletesMs;

/** Resolves when it is kept over a restart. Rejects when it is not: it counts no more than before, and must not be sent. */
export async function countDeleteOf(store: Store, of: string | undefined, nowMs: number): Promise<void> {
  const { countedDeletes } = store;
  const uid = of ?? '';
  for (const [other, at] of countedDeletes) if (Math.abs(nowMs - at) >= DELETE_WINDOW_MS) countedDeletes.delete(other);
  const before = countedDeletes.get(uid);
  try {
    await store.changeDurably((state) => countDelete(without(state, before), nowMs));
  } catch (error) {
    // An earlier try may have deleted it: that count comes back.
    store.change((state) =>
      before === undefined ? takeBackDelete(state, nowMs) : countDelete(takeBackDelete(state, nowMs), before),
    );
    throw error;
  }
  countedDeletes.set(uid, nowMs);
}
