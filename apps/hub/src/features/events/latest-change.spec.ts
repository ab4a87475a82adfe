import { describe, expect, it } from 'vitest';
import { LatestChange } from './latest-change.ts';

const change = (id: number) => ({ xid: '1', id, subject: 's', kind: 'CHANGED' as const });
const never = new AbortController().signal;

describe('the latest change', () => {
  it('stands for all that were not taken, and counts them', async () => {
    const latest = new LatestChange();
    for (const id of [1, 2, 3]) latest.put(change(id));
    expect(await latest.take(1_000, never)).toEqual({ change: change(3), count: 3 });
    expect(await latest.take(1, never)).toBeUndefined();
  });
  it('wakes who waits for it', async () => {
    const latest = new LatestChange();
    const taken = latest.take(10_000, never);
    latest.put(change(7));
    expect((await taken)?.change.id).toBe(7);
  });
  it('lets go of who waits when the consumer leaves', async () => {
    const abort = new AbortController();
    const taken = new LatestChange().take(10_000, abort.signal);
    abort.abort();
    expect(await taken).toBeUndefined();
  });
});
