import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, StoryEvent } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

/** A spec of a mode without Sentinels may not speak of them. */
const withoutSentinel = (spec: Partial<RedisClusterSpec>): Partial<RedisClusterSpec> =>
  Object.assign({ sentinel: undefined }, spec);

/** What a user may want next; each spec is valid by itself. */
const WISHES: readonly Partial<RedisClusterSpec>[] = [
  withoutSentinel({ mode: 'Standalone', size: 1 }),
  withoutSentinel({ mode: 'Replication', size: 2 }),
  withoutSentinel({ mode: 'Replication', size: 4 }),
  { mode: 'Sentinel', size: 2, sentinel: { replicas: 3 } },
  { mode: 'Sentinel', size: 5, sentinel: { replicas: 5 } },
  { hibernation: true },
  { hibernation: false },
  { storage: { type: 'PersistentVolume', size: '3Gi' } },
];

/** Small numbers that a seed repeats. */
const drawNumbers = (seed: number) => {
  let state = seed * 2_654_435_761;
  return (below: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * below);
  };
};

describe('changes of shape, one upon the other, with an agent that is killed between actions', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))('seed %i loses nothing and comes to rest', (seed) => {
    const draw = drawNumbers(seed);
    const events: Record<number, StoryEvent> = {};
    for (let second = 20; second < 260; second += 5 + draw(40)) {
      const crash = draw(4) === 0;
      events[second] = crash ? EVENT.crash(draw(3)) : EVENT.editSpec(WISHES[draw(WISHES.length)] ?? {});
    }
    events[260] = EVENT.editSpec({ hibernation: false });
    const start = WISHES[draw(5)] ?? {};
    const { world, log, violations } = playStory(
      { spec: { ...start, ...VOLUMES }, seconds: 420, events, seed, killChance: 0.15 },
      plan,
    );
    expect(violations, log.slice(-60).join('\n')).toEqual([]);
    expect(world.resource?.status?.phase, log.slice(-60).join('\n')).toBe('Ready');
    expect(world.resource?.status?.size).toBe(world.resource?.spec.size);
    const data = [...world.pods.values()].filter((pod) => pod.component === 'redis');
    expect(data.length).toBe(world.resource?.spec.size);
    const masters = data.filter((pod) => pod.process?.kind === 'redis' && pod.process.role === 'master');
    expect(masters).toHaveLength(1);
    const [primary] = masters;
    const writes = primary?.process?.kind === 'redis' ? primary.process.writes : new Set<number>();
    expect([...world.acknowledged].filter((write) => !writes.has(write))).toEqual([]);
  });
});
