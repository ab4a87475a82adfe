import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, Story, StoryResult } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

/** A data set as given, edited in second 20, played until it must have come to rest. */
const play = (
  spec: Partial<RedisClusterSpec>,
  edit: Partial<RedisClusterSpec>,
  events: Story['events'] = {},
): StoryResult => {
  const result = playStory({ spec, seconds: 90, events: { 20: EVENT.editSpec(edit), ...events } }, plan);
  expect(result.violations).toEqual([]);
  return result;
};

const runningPods = ({ world }: StoryResult): readonly string[] =>
  [...world.pods.keys()].map((name) => name.replace(/^orders-[a-z2-7]{10}-/, '')).sort();

const primaryOf = ({ world }: StoryResult): number =>
  [...world.pods.values()].find((pod) => pod.process?.kind === 'redis' && pod.process.role === 'master')?.ordinal ?? -1;

const expectAtRest = (result: StoryResult, phase = 'Ready'): void => {
  const { world } = result;
  expect(world.resource?.status?.phase).toBe(phase);
  expect(world.excused.size).toBe(0);
  const newest = Math.max(...world.acknowledged);
  const primary = [...world.pods.values()].find(
    (pod) => pod.ordinal === primaryOf(result) && pod.component === 'redis',
  );
  const writes = primary?.process?.kind === 'redis' ? primary.process.writes : new Set<number>();
  expect([...world.acknowledged].filter((write) => !writes.has(write))).toEqual([]);
  expect(newest).toBeGreaterThan(40);
};

const told = (result: StoryResult, pattern: RegExp): readonly string[] =>
  result.log.map((line) => line.replaceAll(/orders-[a-z2-7]{10}-?/g, '').trim()).filter((line) => pattern.test(line));

describe('scaling data pods', () => {
  it('up: the new pods join, and writes go on', () => {
    const result = play({ mode: 'Replication', size: 2, ...VOLUMES }, { size: 5 });
    expectAtRest(result);
    expect(runningPods(result)).toEqual(['0', '1', '2', '3', '4']);
  });

  it.each(['Replication', 'Sentinel'] as const)('down in mode %s: one at a time, the highest first', (mode) => {
    const result = play({ mode, size: 5, ...VOLUMES }, { size: 2 });
    expectAtRest(result);
    expect(runningPods(result).filter((name) => !name.startsWith('sentinel'))).toEqual(['0', '1']);
    expect(told(result, /pod .* is deleted/).map((line) => line.split('pod ')[1])).toEqual([
      '4 is deleted',
      '3 is deleted',
      '2 is deleted',
    ]);
  });

  it('down while the primary is among those that leave: it hands over to pod 0 first', () => {
    const moved = { 15: EVENT.deletePod(0) };
    const result = play({ mode: 'Replication', size: 3 }, { size: 1 }, { ...moved, 20: EVENT.editSpec({}) });
    expect(primaryOf(result)).not.toBe(0);
    const again = play({ mode: 'Replication', size: 3 }, {}, { ...moved, 40: EVENT.editSpec({ size: 1 }) });
    expect(again.world.resource?.status?.phase).toBe('Ready');
    expect(primaryOf(again)).toBe(0);
    expect(told(again, /SwitchOver \(PrimaryMustMove/)).toHaveLength(1);
    expect(runningPods(again)).toEqual(['0']);
  });

  it('down waits while a pod that stays is not linked', () => {
    const result = playStory(
      {
        spec: { mode: 'Sentinel', size: 3, ...VOLUMES },
        seconds: 60,
        events: { 20: EVENT.killNode('node-1'), 21: EVENT.editSpec({ size: 2 }) },
      },
      plan,
    );
    expect(result.violations).toEqual([]);
    const lost = [...result.world.pods.values()].some((pod) => pod.node === 'node-1' && pod.ordinal < 2);
    if (lost) expect(told(result, /spec.replicas/)).toEqual([]);
    expect(result.world.acknowledged.size).toBeGreaterThan(0);
  });
});

describe('scaling Sentinels', () => {
  it('up and down, one at a time, without a failover', () => {
    const result = play(
      { mode: 'Sentinel', ...VOLUMES },
      { sentinel: { replicas: 5 } },
      {
        50: EVENT.editSpec({ sentinel: { replicas: 3 } }),
      },
    );
    expectAtRest(result);
    expect(runningPods(result).filter((name) => name.startsWith('sentinel'))).toHaveLength(3);
    expect(told(result, /the Sentinels promote/)).toEqual([]);
    expect(told(result, /pod sentinel-\d is deleted/).map((line) => line.split('pod ')[1])).toEqual([
      'sentinel-4 is deleted',
      'sentinel-3 is deleted',
    ]);
  });
});

describe('changing the mode', () => {
  it.each([
    ['Standalone', 'Replication', 3],
    ['Standalone', 'Sentinel', 3],
    ['Replication', 'Sentinel', 3],
    ['Sentinel', 'Replication', 3],
    ['Replication', 'Standalone', 1],
    ['Sentinel', 'Standalone', 1],
  ] as const)('%s → %s keeps every key and restarts nobody', (from, to, size) => {
    const start = from === 'Standalone' ? { mode: from, size: 1 } : { mode: from, size: 3 };
    const result = play({ ...start, ...VOLUMES }, { mode: to, size });
    expectAtRest(result);
    expect(runningPods(result)).toHaveLength(size + (to === 'Sentinel' ? 3 : 0));
    expect([...result.world.pods.values()].every((pod) => pod.restarts === 0)).toBe(true);
    expect(told(result, /pod 0 is deleted/)).toEqual([]);
  });
});

describe('hibernation', () => {
  it.each(['Standalone', 'Replication', 'Sentinel'] as const)(
    'mode %s: sleeps, wakes, and every key is there',
    (mode) => {
      const size = mode === 'Standalone' ? 1 : 3;
      const asleep = play({ mode, size, ...VOLUMES }, { hibernation: true });
      expect(asleep.world.resource?.status?.phase).toBe('Hibernated');
      expect(runningPods(asleep)).toEqual([]);
      expect(told(asleep, /pod \d is deleted/).at(-1)).toMatch(/pod 0 is deleted/);
      const awake = play(
        { mode, size, ...VOLUMES },
        { hibernation: true },
        { 60: EVENT.editSpec({ hibernation: false }) },
      );
      expectAtRest({ ...awake });
    },
  );

  it('is begun with a primary that is not pod 0, which hands over first', () => {
    const base = { mode: 'Sentinel', size: 3, ...VOLUMES } as const;
    const events = { 15: EVENT.deletePod(0), 60: EVENT.editSpec({ hibernation: true }) };
    const asleep = play(base, {}, events);
    expect(asleep.world.resource?.status?.phase).toBe('Hibernated');
    expect(told(asleep, /SwitchOver \(PrimaryMustMove/)).toHaveLength(1);
    expect(told(asleep, /pod \d is deleted/).at(-1)).toMatch(/pod 0 is deleted/);
  });

  it('is not begun without a primary, and ends what is asked for meanwhile after waking', () => {
    const awake = play(
      { mode: 'Sentinel', size: 3, ...VOLUMES },
      { hibernation: true },
      {
        45: EVENT.editSpec({ size: 2, mode: 'Replication' }),
        50: EVENT.editSpec({ hibernation: false }),
      },
    );
    expectAtRest(awake);
    expect(runningPods(awake)).toEqual(['0', '1']);
  });
});

describe('suspend', () => {
  it('nothing is done about a lost primary, until it is lifted', () => {
    const base = { mode: 'Replication', size: 3 } as const;
    const events = { 25: EVENT.crash(0) };
    const suspended = play(base, { suspend: true }, events);
    expect(suspended.world.resource?.status?.phase).toBe('Suspended');
    expect(told(suspended, /agent:/).filter((line) => Number.parseInt(line, 10) >= 20)).toEqual([]);
    const lifted = play(base, { suspend: true }, { ...events, 40: EVENT.editSpec({ suspend: false }) });
    expect(lifted.world.resource?.status?.phase).toBe('Ready');
  });
});

describe('growing volumes', () => {
  it('each claim, then the StatefulSet, and no pod is touched', () => {
    const result = play(
      { mode: 'Replication', size: 3, ...VOLUMES },
      { storage: { type: 'PersistentVolume', size: '2Gi' } },
    );
    expectAtRest(result);
    expect(
      told(result, /GrowVolume|OrphanStatefulSet/).map((line) =>
        line.split(' ').find((word) => /Volume|Orphan/.test(word)),
      ),
    ).toEqual(['GrowVolume', 'GrowVolume', 'GrowVolume', 'OrphanStatefulSet']);
    expect(told(result, /is deleted/)).toEqual([]);
  });
});
