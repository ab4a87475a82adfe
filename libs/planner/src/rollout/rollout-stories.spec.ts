import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, StoryResult } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const CHANGE = { resources: { requests: { cpu: '60m' } } };
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

/** A data set as given, whose pods shall have other resources from second 20 on. */
const roll = (spec: Partial<RedisClusterSpec>, edit: Partial<RedisClusterSpec> = CHANGE): StoryResult => {
  const result = playStory({ spec, seconds: 120, events: { 20: EVENT.editSpec(edit) } }, plan);
  expect(result.violations).toEqual([]);
  expect(result.world.excused.size).toBe(0);
  expect(result.world.resource?.status?.phase).toBe('Ready');
  return result;
};

const deeds = ({ log }: StoryResult): readonly string[] =>
  log
    .map((line) => line.replaceAll(/orders-[a-z2-7]{10}-?/g, '').trim())
    .filter((line) => /EvictPod|SwitchOver|Surge|DeleteChild/.test(line))
    .map((line) => line.replace(/^\d+ s\s+agent: /, ''));

const revisions = ({ world }: StoryResult): ReadonlySet<string> =>
  new Set([...world.pods.values()].filter((pod) => pod.component === 'redis').map((pod) => pod.revision));

describe('the story of a rollout', () => {
  it('Sentinel: replicas, hand-over, old primary; the Sentinels stay as they are', () => {
    const result = roll({ mode: 'Sentinel' });
    expect(revisions(result).size).toBe(1);
    expect(deeds(result)).toEqual([
      'EvictPod (RestartingPod) Restarting 2.',
      'EvictPod (RestartingPod) Restarting 1.',
      expect.stringMatching(/^SwitchOver \(SwitchingOver\) 0 is the last to be restarted/),
      'EvictPod (RestartingPod) Restarting 0.',
    ]);
    expect(result.world.resource?.status?.rollout).toBeUndefined();
  });

  it('two pods: the replica, the hand-over, the old primary', () => {
    const ends = deeds(roll({ mode: 'Replication', size: 2 })).map((deed) => deed.replace(/ \(.*/, ''));
    expect(ends).toEqual(['EvictPod', 'SwitchOver', 'EvictPod']);
  });

  it('one pod on a volume is restarted in place', () => {
    expect(deeds(roll({ mode: 'Standalone', size: 1, ...VOLUMES }))).toEqual([
      'EvictPod (RestartingPod) Restarting 0.',
    ]);
  });

  it('one pod without persistence: a second one comes, takes over, and goes', () => {
    const result = roll({ mode: 'Standalone', size: 1 });
    expect(deeds(result)).toEqual([
      expect.stringMatching(/^WriteRecord \(AddingSurgePod\)/),
      expect.stringMatching(/^SwitchOver \(SwitchingOver\) 0 /),
      'EvictPod (RestartingPod) Restarting 0.',
      expect.stringMatching(/^WriteRecord \(RemovingSurgePod\)/),
      expect.stringMatching(/^SwitchOver \(PrimaryMustMove\) 1 hands over to 0/),
      expect.stringMatching(/^WriteRecord \(SurgePodRemoved\)/),
      expect.stringMatching(/^DeleteChild \(NotNeededAnyMore\) Deleting Service orders-replicas/),
    ]);
    expect([...result.world.pods.keys()]).toHaveLength(1);
    expect(result.world.acknowledged.size).toBeGreaterThan(60);
  });

  it('taken back in the middle: what was updated goes back, the primary was never touched', () => {
    const events = {
      20: EVENT.editSpec(CHANGE),
      23: EVENT.editSpec({ resources: { requests: { cpu: '50m', memory: '64Mi' } } }),
    };
    const result = playStory({ spec: { mode: 'Replication' }, seconds: 90, events }, plan);
    expect(result.violations).toEqual([]);
    expect(result.world.resource?.status?.phase).toBe('Ready');
    expect(deeds(result).filter((deed) => deed.startsWith('SwitchOver'))).toEqual([]);
    expect(revisions(result).size).toBe(1);
  });
});
