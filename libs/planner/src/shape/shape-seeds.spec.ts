import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, Story, StoryEvent, StoryResult } from '#testing';
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

const drawLife = (seed: number): { readonly start: Partial<RedisClusterSpec>; readonly events: Story['events'] } => {
  const draw = drawNumbers(seed);
  const events: Record<number, StoryEvent> = {};
  for (let second = 20; second < 200; second += 5 + draw(40)) {
    const crash = draw(4) === 0;
    events[second] = crash ? EVENT.crash(draw(3)) : EVENT.editSpec(WISHES[draw(WISHES.length)] ?? {});
  }
  return { start: WISHES[draw(5)] ?? {}, events: { ...events, 200: EVENT.editSpec({ hibernation: false }) } };
};

const mastersOf = ({ world }: StoryResult): readonly ReadonlySet<number>[] =>
  [...world.pods.values()].flatMap(({ process }) =>
    process?.kind === 'redis' && process.role === 'master' ? [process.writes] : [],
  );

describe('changes of shape, one upon the other, with an agent that is killed between actions', () => {
  const seeds = Array.from({ length: 6 }, (_, index) => index + 1);
  it.each(seeds)('seed %i loses nothing and comes to rest', { timeout: 60_000 }, (seed) => {
    const { start, events } = drawLife(seed);
    const spec = { ...start, ...VOLUMES };
    const result = playStory({ spec, seconds: 330, events, seed, killChance: 0.15 }, plan);
    const { world, log, violations } = result;
    const story = log.slice(-60).join('\n');
    expect(violations, story).toEqual([]);
    expect(world.resource?.status?.phase, story).toBe('Ready');
    const data = [...world.pods.values()].filter((pod) => pod.component === 'redis');
    expect(data.length).toBe(world.resource?.spec.size);
    const [writes, ...others] = mastersOf(result);
    expect(others).toEqual([]);
    expect([...world.acknowledged].filter((write) => writes?.has(write) !== true)).toEqual([]);
  });
});
