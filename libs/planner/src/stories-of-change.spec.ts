import { describe, expect, it } from 'vitest';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, Story } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const CREATED_S = 15;

/** What was done to the running data set, without housekeeping and in short names. It ends Ready, with every key. */
const tellStory = (story: Story): readonly string[] => {
  const { violations, log, world } = playStory(story, plan);
  expect(violations).toEqual([]);
  expect(world.resource?.status?.phase).toBe('Ready');
  expect(world.excused.size).toBe(0);
  return log
    .filter((line) => Number.parseInt(line, 10) >= CREATED_S && /deleted|starts|edited|by hand|agent: /.test(line))
    .filter((line) => !/ApplyChild|ResetSentinel|LabelRole|WriteRecord/.test(line))
    .map((line) => line.replaceAll(/orders-[a-z2-7]{10}-?/g, '').trim());
};

describe('golden stories of changes', { timeout: 60_000 }, () => {
  it('a directive that needs a restart: replicas first, a switchover, the old primary last', () => {
    const edit = EVENT.editSpec({ config: { databases: '32' } });
    expect(tellStory({ spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 60, events: { 20: edit } })).toEqual([
      '19 s  the spec is edited: {"config":{"databases":"32"}}',
      '21 s  agent: EvictPod (RestartingPod) Restarting 2.',
      '21 s  pod 2 is deleted',
      '24 s  2 starts as replica of 10.0-16 with 17 keys',
      '25 s  agent: EvictPod (RestartingPod) Restarting 1.',
      '25 s  pod 1 is deleted',
      '28 s  1 starts as replica of 10.0-16 with 21 keys',
      '32 s  agent: SwitchOver (SwitchingOver) 0 is the last to be restarted; it hands over to an updated replica first.',
      '34 s  agent: EvictPod (RestartingPod) Restarting 0.',
      '34 s  pod 0 is deleted',
      '37 s  0 starts as replica of 10.0-43 with 30 keys',
    ]);
  });

  it('an upgrade from Redis 7.0 to 8.0: no new primary runs before its replicas can read its data', () => {
    const spec = { mode: 'Replication', engine: { type: 'Redis', version: '7.0' }, ...VOLUMES } as const;
    const edit = EVENT.editSpec({ engine: { type: 'Redis', version: '8.0' } });
    expect(tellStory({ spec, seconds: 60, events: { 20: edit } })).toEqual([
      '19 s  the spec is edited: {"engine":{"type":"Redis","version":"8.0"}}',
      '21 s  agent: EvictPod (RestartingPod) Restarting 2.',
      '21 s  pod 2 is deleted',
      '24 s  2 starts as replica of 10.0-13 with 17 keys',
      '25 s  agent: EvictPod (RestartingPod) Restarting 1.',
      '25 s  pod 1 is deleted',
      '28 s  1 starts as replica of 10.0-13 with 21 keys',
      '29 s  agent: SwitchOver (SwitchingOver) 0 is the last to be restarted; it hands over to an updated replica first.',
      '31 s  agent: EvictPod (RestartingPod) Restarting 0.',
      '31 s  pod 0 is deleted',
      '34 s  0 starts as replica of 10.0-34 with 27 keys',
    ]);
  });

  it('an image that does not exist: it stops at the first pod, which no data pod is, and is taken back', () => {
    const engine = { type: 'Redis', version: '8.0' } as const;
    const events = {
      20: EVENT.editSpec({ engine: { ...engine, image: 'docker.io/library/redis:no-such' } }),
      60: EVENT.editSpec({ engine }),
    };
    expect(tellStory({ spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 80, events })).toEqual([
      '19 s  the spec is edited: {"engine":{"type":"Redis","version":"8.0","image":"docker.io/library/redis:no-such"}}',
      '21 s  agent: EvictPod (RestartingPod) Restarting Sentinel sentinel-2.',
      '21 s  pod sentinel-2 is deleted',
      '59 s  the spec is edited: {"engine":{"type":"Redis","version":"8.0"}}',
      '61 s  agent: DeletePod (ReplacingBrokenPod) sentinel-2 cannot start and is made anew.',
      '61 s  pod sentinel-2 is deleted',
      '64 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-2 monitors 0.',
    ]);
  });

  it('a second primary made by hand: it is kept from clients, its data is set aside, and then it follows', () => {
    const events = { 20: EVENT.promoteByHand(2) };
    const told = tellStory({ spec: { mode: 'Replication', ...VOLUMES }, seconds: 50, events });
    expect(told.filter((line) => !line.includes('ResumePod'))).toEqual([
      '19 s  somebody makes data pod 2 a primary by hand and writes to it',
      '20 s  agent: FencePod (FencingRival) 2 takes no writes any more, and its clients are disconnected.',
      expect.stringMatching(/^20 s {2}agent: SetAside \(SettingAside\) 2 holds writes of its own;/),
      '21 s  agent: ReplicateFrom (DemotingRival) 2 follows 0.',
    ]);
  });
});
