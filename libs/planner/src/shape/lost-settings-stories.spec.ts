import { describe, expect, it } from 'vitest';
import type { KubeObject, RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, Story, StoryEvent, StoryResult } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

const all =
  (...events: readonly StoryEvent[]): StoryEvent =>
  (world) =>
    events.forEach((event) => event(world));
const loseConfig: StoryEvent = (world) => void world.children.delete(`ConfigMap/${world.names.config}`);
const loseRecord: StoryEvent = (world) => void world.children.delete(`ConfigMap/${world.names.record}`);
/** An old dump of the settings is applied over the live ones. */
const tellSize =
  (size: number): StoryEvent =>
  (world) => {
    const key = `ConfigMap/${world.names.config}`;
    const live = world.children.get(key) as KubeObject & { readonly data: { readonly settings: string } };
    const settings = live.data.settings.replace(/^REDIS_PODS=.*$/m, `REDIS_PODS=${size}`);
    world.children.set(key, { ...live, data: { ...live.data, settings } });
  };

const play = (spec: Partial<RedisClusterSpec>, events: Story['events'], seconds = 200): StoryResult =>
  playStory({ spec: { ...spec, ...VOLUMES }, seconds, events }, plan);

const expectNothingLost = ({ violations, world, log }: StoryResult): void => {
  const story = log.join('\n');
  expect(violations, story).toEqual([]);
  expect(world.resource?.status?.phase, story).toBe('Ready');
  expect(world.excused.size, story).toBe(0);
  const writes = [...world.pods.values()].flatMap(({ process }) =>
    process?.kind === 'redis' && process.role === 'master' ? [process.writes] : [],
  );
  expect(writes).toHaveLength(1);
  expect([...world.acknowledged].filter((write) => writes[0]?.has(write) !== true)).toEqual([]);
  expect(world.acknowledged.size).toBeGreaterThan(20);
};
const asidesOf = ({ log }: StoryResult): readonly string[] => log.filter((line) => line.includes('membership aside'));
const removedIn = ({ log }: StoryResult): readonly string[] => log.filter((line) => /pod \S*\d is deleted/.test(line));

describe('the settings ConfigMap is lost', { timeout: 120_000 }, () => {
  it.each([
    ['Standalone', 1],
    ['Replication', 3],
    ['Sentinel', 3],
  ] as const)('asleep, mode %s: no volume counts as left, and it wakes with every key', (mode, size) => {
    const asleep = { 20: EVENT.editSpec({ hibernation: true }), 60: loseConfig };
    const sleeping = play({ mode, size }, asleep, 80);
    expect(sleeping.world.resource?.status?.phase).toBe('Hibernated');
    expect(
      sleeping.log.filter((line) => /ApplyChild.*StatefulSet/.test(line) && !/^ *([0-4]?\d) s/.test(line)),
    ).toEqual([]);
    const woken = EVENT.editSpec({ hibernation: false });
    for (const events of [
      { ...asleep, 80: woken },
      { ...asleep, 60: all(loseConfig, woken) },
    ]) {
      const awake = play({ mode, size }, events);
      expectNothingLost(awake);
      expect(asidesOf(awake)).toEqual([]);
    }
  });

  it.each([
    ['between the replicas and the primary', 22],
    ['before the replicas', 21],
    ['after the primary', 26],
  ])('while it falls asleep, %s', (_, second) => {
    const events = {
      20: EVENT.editSpec({ hibernation: true }),
      [second]: loseConfig,
      80: EVENT.editSpec({ hibernation: false }),
    };
    const awake = play({ mode: 'Replication', size: 3 }, events);
    expectNothingLost(awake);
    expect(asidesOf(awake)).toEqual([]);
  });

  it.each([
    ['Sentinel', { size: 2 }],
    ['Replication', { mode: 'Standalone', size: 1 }],
  ] as const)('mode %s, with a smaller size wanted: the members go one by one, through the gates', (mode, wanted) => {
    const events = { 15: EVENT.deletePod(0), 40: all(loseConfig, EVENT.editSpec(wanted)) };
    const result = play({ mode, size: 3 }, events);
    expectNothingLost(result);
    expect(result.log.filter((line) => /^ *40 s .*(StatefulSet|Noting)/.test(line))).toEqual([]);
    expect(new Set(removedIn(result).map((line) => line.split('s')[0])).size).toBe(removedIn(result).length);
  });
});

describe('the settings tell a smaller size than runs', { timeout: 120_000 }, () => {
  it.each(['Replication', 'Sentinel'] as const)('mode %s: nobody is removed, nor counts as returning', (mode) => {
    const result = play({ mode, size: 3 }, { 20: tellSize(1), 60: EVENT.deletePod(0) });
    expectNothingLost(result);
    expect(asidesOf(result)).toEqual([]);
    expect(result.log.join('\n')).not.toMatch(/NotingOldVolumes/);
    expect(removedIn(result)).toHaveLength(1);
  });

  it.each([
    ['Standalone', 1],
    ['Replication', 2],
  ] as const)('mode %s, a larger one: no pod comes back over its old volume', (mode, size) => {
    const events = {
      20: EVENT.editSpec({ mode, size }),
      60: tellSize(3),
      90: EVENT.editSpec({ hibernation: true }),
      110: tellSize(3),
    };
    const result = play({ mode: 'Replication', size: 3 }, { ...events, 120: EVENT.editSpec({ hibernation: false }) });
    expectNothingLost(result);
    expect(result.log.filter((line) => / (6|12)\d s .*-2 starts/.test(line))).toEqual([]);
  });

  it('of a Standalone, while three run: nobody starts alone', () => {
    const alone: StoryEvent = (world) => {
      const key = `ConfigMap/${world.names.config}`;
      const live = world.children.get(key) as KubeObject & { readonly data: { readonly settings: string } };
      const settings = live.data.settings.replace('MODE=Sentinel', 'MODE=Standalone').replace(/PODS=3/g, 'PODS=1');
      world.children.set(key, { ...live, data: { ...live.data, settings } });
    };
    const result = play({ mode: 'Sentinel', size: 3 }, { 40: all(alone, EVENT.editSpec({ size: 2 })) });
    expectNothingLost(result);
    expect(removedIn(result)).toHaveLength(1);
    expect(asidesOf(result)).toEqual([]);
  });
});

describe('the record is lost', { timeout: 120_000 }, () => {
  it('before a pod that came back was linked: its note is read back from the settings', () => {
    const crash = EVENT.crash(0, 60);
    const events = { 20: EVENT.editSpec({ size: 1 }), 70: EVENT.editSpec({ size: 2 }), 71: crash, 73: loseRecord };
    const result = play({ mode: 'Replication', size: 2 }, events, 230);
    expectNothingLost(result);
    expect(asidesOf(result)).toHaveLength(1);
  });
});

describe(
  '3 → 2 → 3 in mode Sentinel, asleep in between, with the settings lost meanwhile',
  { timeout: 120_000 },
  () => {
    const scaled = { 20: EVENT.editSpec({ size: 2 }), 60: EVENT.editSpec({ hibernation: true }) };
    it.each<[string, Story['events']]>([
      [
        'before it is scaled up',
        { 85: loseConfig, 90: EVENT.editSpec({ size: 3 }), 100: EVENT.editSpec({ hibernation: false }) },
      ],
      ['after it', { 85: EVENT.editSpec({ size: 3 }), 90: loseConfig, 100: EVENT.editSpec({ hibernation: false }) }],
      ['with the waking', { 100: all(loseConfig, EVENT.editSpec({ size: 3, hibernation: false })) }],
      ['with the record', { 90: all(loseConfig, loseRecord), 100: EVENT.editSpec({ size: 3, hibernation: false }) }],
    ])('%s: only what the third pod left goes aside', (_, events) => {
      const result = play({ mode: 'Sentinel', size: 3 }, { ...scaled, ...events }, 260);
      expectNothingLost(result);
      expect(asidesOf(result).filter((line) => !/-2 sets/.test(line))).toEqual([]);
    });
  },
);
