import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Action, Plan, PlanResult, RedisClusterSnapshot } from '#domain';
import { ControlLoop } from './control-loop.ts';
import type { ReconcileParts } from './reconcile.ts';

const action: Action = { kind: 'AddFinalizer', reason: 'New', message: 'It is new.', disruptive: false };
const planOf = (recheckAfterMs?: number): Plan =>
  ({
    actions: [],
    trail: [],
    status: {},
    ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }),
  }) as unknown as Plan;
const snapshot = { scopeOwner: 'CLUSTER' } as unknown as RedisClusterSnapshot;

const makeLoop = (parts: Partial<ReconcileParts>, mayAct = () => true) => {
  const passes: string[] = [];
  const failures: number[] = [];
  const loop = new ControlLoop({
    parts: {
      observe: async () => snapshot,
      claimNamespace: async () => 'OWNED',
      plan: () => planOf(),
      execute: async () => ({ done: [] }),
      report: async () => undefined,
      tellMissing: async () => undefined,
      ...parts,
    },
    concurrency: 2,
    resyncMs: () => 10_000,
    random: () => 0.5,
    mayAct,
    onPass: ({ key }) => passes.push(`${key.namespace}/${key.name}`),
    onPassFailed: (_, __, retryInMs) => failures.push(retryInMs),
  });
  return { loop, passes, failures };
};

describe('ControlLoop', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('merges the wake-ups of one burst into one pass', async () => {
    const { loop, passes } = makeLoop({});
    for (let i = 0; i < 20; i += 1) loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(100);
    expect(passes).toEqual(['shop/cache']);
  });

  it('looks again at each resync although nothing changed', async () => {
    const { loop, passes } = makeLoop({});
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(35_000);
    expect(passes).toHaveLength(4);
  });

  it('looks again as soon as the plan asks for, and soon after anything was done', async () => {
    const asked = makeLoop({ plan: () => planOf(1_000) });
    asked.loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(2_500);
    expect(asked.passes).toHaveLength(3);
    const results: PlanResult[] = [{ done: [action] }, { done: [] }];
    const acted = makeLoop({ execute: async () => results.shift() ?? { done: [] } });
    acted.loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(400);
    expect(acted.passes).toHaveLength(2);
  });

  it('slows down when passes act without end, as when another writer undoes each write', async () => {
    const { loop, passes } = makeLoop({ execute: async () => ({ done: [action] }) });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(4_000);
    expect(passes.length).toBeGreaterThan(10);
    const soon = passes.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(passes.length - soon).toBeLessThan(20);
  });

  it('backs off after a failed action and after a pass that could not be made', async () => {
    const failure = { action, reason: 'AddFinalizerFailed', message: 'no' };
    let failing = true;
    const { loop, passes } = makeLoop({ execute: async () => (failing ? { done: [], failure } : { done: [] }) });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(5_000);
    const whileFailing = passes.length;
    expect(whileFailing).toBeGreaterThan(3);
    expect(whileFailing).toBeLessThan(6);
    failing = false;
    await vi.advanceTimersByTimeAsync(40_000);
    expect(passes.length).toBeGreaterThan(whileFailing + 2);
    const broken = makeLoop({ observe: () => Promise.reject(new Error('API server away')) });
    broken.loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(4_000);
    expect(broken.failures.slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
    expect(broken.passes).toEqual([]);
  });

  it('an action that is refused for ever hides nothing for longer than a resync', async () => {
    const failure = { action, reason: 'EvictPodRefused', message: 'no' };
    const { loop, passes } = makeLoop({ execute: async () => ({ done: [], failure }) });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(300_000);
    const before = passes.length;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(passes.length - before).toBeGreaterThanOrEqual(9);
  });

  it('what was done beside a refusal is looked at soon, and slower when that never ends', async () => {
    const failure = { action, reason: 'ApplyChildFailed', message: 'no' };
    let done: readonly Action[] = [];
    const { loop, passes } = makeLoop({ execute: async () => ({ done, failure }) });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(60_000);
    done = [action];
    const before = passes.length;
    await vi.advanceTimersByTimeAsync(12_000);
    expect(passes.length - before).toBeGreaterThan(5);
    await vi.advanceTimersByTimeAsync(60_000);
    const busy = passes.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(passes.length - busy).toBeLessThan(10);
  });

  it('counts the failures before a pass for the status', async () => {
    const before: number[] = [];
    const { loop } = makeLoop({
      execute: async () => ({ done: [], failure: { action, reason: 'X', message: 'no' } }),
      tellMissing: async () => undefined,
      report: async (pass) => {
        before.push(pass.failuresBefore);
      },
    });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(before.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it('claims a namespace that is nobody’s, and only then', async () => {
    const claimed: string[] = [];
    const claimNamespace = async (namespace: string): Promise<'OWNED'> => {
      claimed.push(namespace);
      return 'OWNED';
    };
    const unowned = makeLoop({ observe: async () => ({}) as unknown as RedisClusterSnapshot, claimNamespace });
    unowned.loop.wake('shop/cache');
    const owned = makeLoop({ claimNamespace });
    owned.loop.wake('other/cache');
    await vi.advanceTimersByTimeAsync(100);
    expect(claimed).toEqual(['shop']);
  });

  it('lets go what is deleted with its namespace, and makes nothing new there', async () => {
    const planned: RedisClusterSnapshot[] = [];
    const parts = (metadata: object): Partial<ReconcileParts> => ({
      observe: async () => ({ resource: { metadata }, ownsNamespace: false }) as unknown as RedisClusterSnapshot,
      claimNamespace: async () => 'TERMINATING',
      plan: (seen) => {
        planned.push(seen);
        return planOf();
      },
    });
    makeLoop(parts({ name: 'not yet' })).loop.wake('shop/cache');
    makeLoop(parts({ name: 'deleted', deletionTimestamp: '2026-01-02T00:00:00Z' })).loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(100);
    expect(planned.map(({ resource, ownsNamespace }) => [resource.metadata.name, ownsNamespace])).toEqual([
      ['deleted', true],
    ]);
  });

  it('makes no pass while it may not act, and goes on by itself afterwards', async () => {
    let leads = false;
    const { loop, passes } = makeLoop({}, () => leads);
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(passes).toEqual([]);
    leads = true;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(passes).toEqual(['shop/cache']);
  });

  it('forgets a RedisCluster that is gone', async () => {
    const { loop, passes } = makeLoop({ observe: async () => undefined });
    loop.wake('shop/cache');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(passes).toHaveLength(1);
  });
});
