import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, StoryEvent, StoryResult } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

const all =
  (...events: readonly StoryEvent[]): StoryEvent =>
  (world) =>
    events.forEach((event) => event(world));

/** They end, and their kubelets wait a minute before they start them again: the others meet without them. */
const crash = (...ordinals: readonly number[]): StoryEvent =>
  all(...ordinals.map((ordinal) => EVENT.crash(ordinal, 60)));

/** Down in second 20, fifty writes, up again in second 70; what happens then is the story. */
const play = (
  spec: Partial<RedisClusterSpec>,
  down: Partial<RedisClusterSpec>,
  events: Record<number, StoryEvent>,
  seconds = 230,
): StoryResult =>
  playStory(
    {
      spec: { ...spec, ...VOLUMES },
      seconds,
      events: {
        20: EVENT.editSpec(down),
        ...events,
        70: all(EVENT.editSpec(spec), events[70] ?? (() => undefined)),
      },
    },
    plan,
  );

const expectNothingLost = ({ violations, world, log }: StoryResult): void => {
  expect(violations, log.join('\n')).toEqual([]);
  expect(world.resource?.status?.phase).toBe('Ready');
  expect(world.excused.size, log.join('\n')).toBe(0);
  const primary = [...world.pods.values()].find(
    (pod) => pod.process?.kind === 'redis' && pod.process.role === 'master',
  );
  const writes = primary?.process?.kind === 'redis' ? primary.process.writes : new Set<number>();
  expect([...world.acknowledged].filter((write) => !writes.has(write))).toEqual([]);
  expect(world.acknowledged.size).toBeGreaterThan(60);
};

describe('the volume of a pod that was scaled away, when the pod comes back', { timeout: 120_000 }, () => {
  it.each([
    ['Replication', 2, 1],
    ['Replication', 3, 1],
    ['Replication', 3, 2],
    ['Sentinel', 3, 2],
    ['Sentinel', 4, 2],
  ] as const)('mode %s, %i → %i and back: its old keys go aside, and it copies what is', (mode, size, less) => {
    const result = play({ mode, size }, { size: less }, {});
    expectNothingLost(result);
    expect(result.log.filter((line) => line.includes('of an earlier membership aside'))).toHaveLength(size - less);
    expect(result.log.filter((line) => line.includes('takes a full copy and drops'))).toEqual([]);
  });

  it.each([
    ['Replication', 2, 1],
    ['Replication', 3, 2],
    ['Sentinel', 3, 2],
  ] as const)('mode %s, %i → %i and back: is not promoted while the others are down', (mode, size, less) => {
    const others = Array.from({ length: less }, (_, ordinal) => ordinal);
    for (const second of [70, 72])
      expectNothingLost(play({ mode, size }, { size: less }, { [second]: crash(...others) }));
  });

  it.each([
    ['Replication', 2, 1],
    ['Replication', 3, 2],
    ['Sentinel', 3, 2],
  ] as const)('mode %s, %i → %i and back: is not promoted when every pod is made anew', (mode, size, less) => {
    for (const second of [70, 72]) {
      expectNothingLost(play({ mode, size }, { size: less }, { [second]: EVENT.deleteAllPods }));
    }
  });

  it('is not promoted in place of pods that are lost with their nodes, whatever loss is accepted', () => {
    const result = play(
      { mode: 'Replication', size: 2, failover: { dataLossPolicy: 'Allow' } },
      { size: 1 },
      { 72: (world) => EVENT.killNode([...world.pods.values()].find((pod) => pod.ordinal === 0)?.node ?? '')(world) },
    );
    expect(result.violations, result.log.join('\n')).toEqual([]);
    expect(result.log.filter((line) => /agent: PromotePod \(RecoveringPrimary\)/.test(line))).toEqual([]);
  });

  it('Sentinel → Standalone → Sentinel in between is the same', () => {
    const sentinel = { mode: 'Sentinel', size: 3 } as const;
    const back = play(sentinel, { mode: 'Standalone', size: 1 }, { 71: crash(0) });
    expectNothingLost(back);
    const anew = play(sentinel, { mode: 'Standalone', size: 1 }, { 72: EVENT.deleteAllPods });
    expectNothingLost(anew);
  });

  it.each([
    ['Replication', 2, 1],
    ['Replication', 3, 1],
    ['Sentinel', 3, 2],
  ] as const)(
    'mode %s, %i → %i, deleted, and taken up with the size of before: nothing old is promoted',
    (mode, size, less) => {
      const others = Array.from({ length: less }, (_, ordinal) => ordinal);
      for (const second of [91, 93, 95]) {
        expectNothingLost(
          playStory(
            {
              spec: { mode, size, ...VOLUMES },
              seconds: 330,
              events: {
                20: EVENT.editSpec({ size: less }),
                70: EVENT.deleteObject,
                90: EVENT.applyAgain,
                [second]: crash(...others),
              },
            },
            plan,
          ),
        );
      }
    },
  );

  it.each(['Replication', 'Sentinel'] as const)(
    'mode %s, deleted, and taken up with a size that leaves out the primary: it hands over before it goes',
    (mode) => {
      const result = playStory(
        {
          spec: { mode, size: 3, ...VOLUMES },
          seconds: 330,
          events: {
            20: all(EVENT.deletePod(0), EVENT.deletePod(1)),
            70: EVENT.deleteObject,
            90: all(EVENT.applyAgain, EVENT.editSpec({ size: 2 })),
          },
        },
        plan,
      );
      expectNothingLost(result);
    },
  );

  it('asleep when it was deleted, and taken up larger: what lies on the volumes of an earlier size stays no copy', () => {
    for (const second of [112, 114]) {
      const result = playStory(
        {
          spec: { mode: 'Replication', size: 3, ...VOLUMES },
          seconds: 330,
          events: {
            20: EVENT.editSpec({ size: 2 }),
            60: EVENT.editSpec({ hibernation: true }),
            90: EVENT.deleteObject,
            110: EVENT.applyAgain,
            [second]: crash(0, 1),
          },
        },
        plan,
      );
      expectNothingLost(result);
    }
  });

  it('a Standalone, deleted, and taken up as three with Sentinels: it has them at last, and every key', () => {
    const result = playStory(
      {
        spec: { mode: 'Standalone', ...VOLUMES },
        seconds: 330,
        events: {
          70: EVENT.deleteObject,
          90: all(EVENT.applyAgain, EVENT.editSpec({ mode: 'Sentinel', size: 3 })),
        },
      },
      plan,
    );
    expectNothingLost(result);
    expect(result.world.resource?.status).toMatchObject({ size: 3, readyPods: 3 });
  });

  it.each([
    ['Replication', 72],
    ['Replication', 74],
    ['Sentinel', 72],
    ['Sentinel', 74],
  ] as const)('mode %s: a claim that was restored by hand, without labels, is as old (crash at %i)', (mode, second) => {
    const result = playStory(
      {
        spec: { mode, size: 2, ...VOLUMES },
        seconds: 260,
        events: {
          60: EVENT.restoreClaim(2, 20),
          70: EVENT.editSpec({ size: 3 }),
          [second]: crash(0, 1),
        },
      },
      plan,
    );
    expectNothingLost(result);
    expect(result.log.filter((line) => line.includes('of an earlier membership aside'))).toHaveLength(1);
  });

  it.each([
    [
      'asleep and larger in one edit',
      { 70: EVENT.editSpec({ hibernation: true, size: 3 }), 110: EVENT.editSpec({ hibernation: false }) },
      112,
    ],
    [
      'larger and on bigger volumes in one edit',
      { 70: EVENT.editSpec({ size: 3, storage: { type: 'PersistentVolume', size: '2Gi' } }) },
      72,
    ],
  ] as const)('stays no copy: %s', (_, events, crashed) => {
    for (const others of [crash(0, 1), EVENT.deleteAllPods]) {
      const result = playStory(
        {
          spec: { mode: 'Replication', size: 3, ...VOLUMES },
          seconds: 360,
          events: { 20: EVENT.editSpec({ size: 2 }), ...events, [crashed]: others },
        },
        plan,
      );
      expectNothingLost(result);
    }
  });

  it.each(['Replication', 'Sentinel'] as const)(
    'mode %s, asleep and smaller in one edit, deletionPolicy Delete: no volume goes before it is awake and whole',
    (mode) => {
      const result = playStory(
        {
          spec: { mode, size: 3, deletionPolicy: 'Delete', ...VOLUMES },
          seconds: 300,
          events: {
            20: EVENT.deletePod(0),
            70: EVENT.editSpec({ hibernation: true, size: 2 }),
            110: EVENT.editSpec({ hibernation: false }),
          },
        },
        plan,
      );
      expectNothingLost(result);
      expect(result.world.volumes.size).toBe(2);
    },
  );

  it('is a member again once it was linked: then a dead primary is followed by it', () => {
    const result = play({ mode: 'Replication', size: 2 }, { size: 1 }, { 110: EVENT.deletePod(0) });
    expectNothingLost(result);
    expect(result.log.join('\n')).toMatch(/PodsReturned/);
  });

  it('comes back a second time: another stamp, and what it copied in between goes aside too', () => {
    const result = play(
      { mode: 'Replication', size: 2 },
      { size: 1 },
      { 95: EVENT.editSpec({ size: 1 }), 130: EVENT.editSpec({ size: 2 }), 131: crash(0) },
      230,
    );
    expectNothingLost(result);
    expect(result.log.filter((line) => line.includes('of an earlier membership aside'))).toHaveLength(2);
  });
});
