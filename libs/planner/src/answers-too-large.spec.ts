/** A server whose answers pass the bounds of the agent: a person hears of it, and nothing is failed over for it. */
import { describe, expect, it } from 'vitest';
import type { RedisNodeFacts, SentinelFacts } from '#domain';
import { drawSettled, NOW_MS } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const boundless = { reachable: false, reason: 'TOO_LARGE', message: 'too large' } as const;
const plan = (
  mode: 'Sentinel' | 'Replication',
  change: { redis?: Record<string, RedisNodeFacts>; sentinels?: Record<string, SentinelFacts> },
) => {
  const settled = drawSettled({ mode });
  const snapshot = {
    ...settled,
    redis: { ...settled.redis, ...change.redis },
    sentinels: { ...settled.sentinels, ...change.sentinels },
  };
  return planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
};
const stalled = (made: ReturnType<typeof plan>) => made.status.conditions.find(({ type }) => type === 'Stalled');
const firstOf = (names: object): string => Object.keys(names).sort()[0] ?? '';

describe('a server whose answers are too large', () => {
  it.each(['Sentinel', 'Replication'] as const)('is no proof that the primary is dead, in mode %s', (mode) => {
    const primary = firstOf(drawSettled({ mode }).redis);
    const made = plan(mode, { redis: { [primary]: boundless } });
    const kinds = made.actions.map(({ kind }) => kind);
    expect(kinds.filter((kind) => /Promote|FailOver|SwitchOver|DeletePod|EvictPod|ReplicateFrom/.test(kind))).toEqual(
      [],
    );
    expect(stalled(made)?.message).toContain(`The answers of ${primary} are larger`);
  });

  it('is named in the condition with what to look at', () => {
    const replica =
      Object.keys(drawSettled({ mode: 'Sentinel' }).redis)
        .sort()
        .at(-1) ?? '';
    const sentinel = firstOf(drawSettled({ mode: 'Sentinel' }).sentinels);
    for (const change of [{ redis: { [replica]: boundless } }, { sentinels: { [sentinel]: boundless } }]) {
      expect(stalled(plan('Sentinel', change))).toMatchObject({
        status: 'True',
        reason: 'RedisAnswersTooLarge',
        message: expect.stringContaining('spec.engine.image') as string,
      });
    }
  });
});
