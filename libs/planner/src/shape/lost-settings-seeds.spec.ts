import { describe, expect, it } from 'vitest';
import type { KubeObject, RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, Story, StoryEvent } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const SENTINEL = { mode: 'Sentinel', sentinel: { replicas: 3 } } as const;

/** A spec of a mode without Sentinels may not speak of them. */
const withoutSentinel = (spec: Partial<RedisClusterSpec>): Partial<RedisClusterSpec> =>
  Object.assign({ sentinel: undefined }, spec);

const WISHES: readonly Partial<RedisClusterSpec>[] = [
  withoutSentinel({ mode: 'Standalone', size: 1 }),
  withoutSentinel({ mode: 'Replication', size: 2 }),
  withoutSentinel({ mode: 'Replication', size: 4 }),
  { ...SENTINEL, size: 2 },
  { ...SENTINEL, size: 4 },
  { hibernation: true },
  { hibernation: false },
  { hibernation: true },
  { hibernation: false },
];

const loseConfig: StoryEvent = (world) => void world.children.delete(`ConfigMap/${world.names.config}`);
const loseRecord: StoryEvent = (world) => void world.children.delete(`ConfigMap/${world.names.record}`);

/** Settings are saved from time to time, and applied again long after. */
const makeDumps = (): StoryEvent => {
  const saved: KubeObject[] = [];
  return (world) => {
    const key = `ConfigMap/${world.names.config}`;
    const live = world.children.get(key);
    if (live === undefined) return;
    saved.push(structuredClone(live));
    const [oldest] = saved;
    if (oldest !== undefined && saved.length % 2 === 0) world.children.set(key, { ...live, data: oldest['data'] });
  };
};

const tellSize =
  (size: number): StoryEvent =>
  (world) => {
    const key = `ConfigMap/${world.names.config}`;
    const live = world.children.get(key) as (KubeObject & { readonly data: Record<string, string> }) | undefined;
    if (live === undefined) return;
    const settings = (live.data['settings'] ?? '').replace(/^REDIS_PODS=.*$/m, `REDIS_PODS=${size}`);
    world.children.set(key, { ...live, data: { ...live.data, settings } });
  };

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
  const applyDump = makeDumps();
  const events: Record<number, StoryEvent> = {};
  for (let second = 20; second < 300; second += 3 + draw(30)) {
    const happens = [
      EVENT.crash(draw(3), draw(2) * 30),
      loseConfig,
      loseConfig,
      loseRecord,
      tellSize(1 + draw(3)),
      applyDump,
      applyDump,
    ][draw(11)];
    events[second] = happens ?? EVENT.editSpec(WISHES[draw(WISHES.length)] ?? {});
  }
  return { start: WISHES[draw(5)] ?? {}, events: { ...events, 301: EVENT.editSpec({ hibernation: false }) } };
};

describe('settings and records that are lost, edited and put back from old dumps, in the middle of changes of shape', () => {
  const seeds = Array.from({ length: 8 }, (_, index) => index + 1);
  it.each(seeds)('seed %i loses nothing and comes to rest', { timeout: 60_000 }, (seed) => {
    const { start, events } = drawLife(seed);
    const life = { spec: { ...start, ...VOLUMES }, seconds: 430, events, seed, killChance: 0.1 };
    const { world, log, violations } = playStory(life, plan);
    const story = log.slice(-80).join('\n');
    expect(violations, story).toEqual([]);
    expect(world.resource?.status?.phase, story).toBe('Ready');
    const writes = [...world.pods.values()].flatMap(({ process }) =>
      process?.kind === 'redis' && process.role === 'master' ? [process.writes] : [],
    );
    expect(writes).toHaveLength(1);
    expect(
      [...world.acknowledged].filter((write) => writes[0]?.has(write) !== true),
      story,
    ).toEqual([]);
  });
});
