import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot } from '#domain';
import { EVENT, playSeed, playStory } from '#testing';
import type { PlanWorld, Story, StoryResult } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const CREATED_S = 15;

/** The story from the second on, without housekeeping, in short names. */
const tellStory = (story: Story, fromS = CREATED_S): { readonly text: string; readonly result: StoryResult } => {
  const result = playStory(story, plan);
  expect(result.violations).toEqual([]);
  const text = result.log
    .filter((line) => Number.parseInt(line, 10) >= fromS && !/ApplyChild|ResetSentinel|WaitingForPods/.test(line))
    .map((line) => line.replaceAll(/orders-[a-z2-7]{10}-?/g, '').trimStart())
    .join('\n');
  return { text, result };
};

describe('golden stories', () => {
  it('a Sentinel data set is created', () => {
    const { text, result } = tellStory({ spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 20, events: {} }, 0);
    expect(text).toMatchInlineSnapshot(`
      "1 s  agent: AddFinalizer (FinalizerMissing) Holding the object until its children are taken care of.
      1 s  agent: CreateCredentials (CredentialsMissing) Making passwords in Secret credentials.
      1 s  agent: PublishConnection (CredentialsMissing) Publishing Secret  for clients.
      4 s  0 starts as replica of 127.255.255.254 with 0 keys
      4 s  1 starts as replica of 127.255.255.254 with 0 keys
      4 s  2 starts as replica of 127.255.255.254 with 0 keys
      4 s  agent: WriteRecord (CreatingDataSet) No data set exists yet, every pod is empty and waits: 0 becomes its first primary.
      4 s  agent: PromotePod (CreatingDataSet) No data set exists yet, every pod is empty and waits: 0 becomes its first primary.
      5 s  agent: WriteRecord (PrimaryVersion) The primary runs Redis 8.0.2.
      5 s  agent: ReplicateFrom (AttachingReplica) 1 becomes a replica of 0.
      5 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 0.
      5 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-0 monitors 0.
      5 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-1 monitors 0.
      5 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-2 monitors 0.
      5 s  agent: LabelRole (RoleMoved) 1 is labelled as replica.
      5 s  agent: LabelRole (RoleMoved) 2 is labelled as replica.
      5 s  agent: LabelRole (RoleMoved) 0 is labelled as primary."
    `);
    expect(result.world.resource?.status?.phase).toBe('Ready');
  });

  it('the primary pod of a Sentinel data set is deleted: it hands over before it goes', () => {
    const story = { spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 60, events: { 20: EVENT.deletePod(0) } } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  pod 0 is deleted
      20 s  agent: SwitchOver (PrimaryIsEnding) 0 is being deleted; it hands over first.
      20 s  agent: WriteRecord (PrimaryMoved) 1 is primary now; before it was 0.
      20 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      20 s  agent: LabelRole (RoleMoved) 1 is labelled as primary.
      21 s  agent: WriteRecord (PrimaryHistory) 1 writes a history of its own now.
      21 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      23 s  0 starts as replica of 10.0-19 with 16 keys"
    `);
    expect(result.world.excused.size).toBe(0);
  });

  it('the same without Sentinel', () => {
    const story = {
      spec: { mode: 'Replication', ...VOLUMES },
      seconds: 60,
      events: { 20: EVENT.deletePod(0) },
    } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  pod 0 is deleted
      20 s  agent: WriteRecord (PrimaryIsEnding) 0 is being deleted; it hands over first.
      20 s  agent: SwitchOver (PrimaryIsEnding) 0 is being deleted; it hands over first.
      20 s  agent: WriteRecord (PrimaryMoved) 1 is primary now; before it was 0.
      20 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      20 s  agent: LabelRole (RoleMoved) 1 is labelled as primary.
      21 s  agent: WriteRecord (PrimaryHistory) 1 writes a history of its own now.
      21 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      23 s  0 starts as replica of 10.0-16 with 16 keys"
    `);
    expect(result.world.excused.size).toBe(0);
  });

  it('every pod is deleted at once and all addresses change: the data set heals with every key', () => {
    const story = { spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 60, events: { 20: EVENT.deleteAllPods } } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  pod 0 is deleted
      19 s  pod 1 is deleted
      19 s  pod 2 is deleted
      19 s  pod sentinel-0 is deleted
      19 s  pod sentinel-1 is deleted
      19 s  pod sentinel-2 is deleted
      22 s  0 starts as replica of 127.255.255.254 with 15 keys
      22 s  1 starts as replica of 127.255.255.254 with 15 keys
      22 s  2 starts as replica of 127.255.255.254 with 15 keys
      22 s  agent: PromotePod (RecoveringPrimary) 0 is promoted: it is the recorded primary and nobody is further along.
      23 s  agent: WriteRecord (PrimaryPlace) 0 is at 10.0-39 now.
      23 s  agent: ReplicateFrom (AttachingReplica) 1 becomes a replica of 0.
      23 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 0.
      23 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-0 monitors 0.
      23 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-1 monitors 0.
      23 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-2 monitors 0.
      23 s  agent: LabelRole (RoleMoved) 1 is labelled as replica.
      23 s  agent: LabelRole (RoleMoved) 2 is labelled as replica.
      23 s  agent: LabelRole (RoleMoved) 0 is labelled as primary."
    `);
    expect(result.world.excused.size).toBe(0);
  });

  it('the same without volumes: the loss is declared, and it goes on empty', () => {
    const story = { spec: { mode: 'Replication' }, seconds: 40, events: { 20: EVENT.deleteAllPods } } as const;
    expect(tellStory(story).text).toMatchInlineSnapshot(`
      "19 s  pod 0 is deleted
      19 s  pod 1 is deleted
      19 s  pod 2 is deleted
      22 s  0 starts as replica of 127.255.255.254 with 0 keys
      22 s  1 starts as replica of 127.255.255.254 with 0 keys
      22 s  2 starts as replica of 127.255.255.254 with 0 keys
      22 s  agent: WriteRecord (DataLostAsDeclared) Every data pod restarted without persistence; what they held is lost, as the spec declares. 0 becomes primary.
      22 s  agent: PromotePod (DataLostAsDeclared) Every data pod restarted without persistence; what they held is lost, as the spec declares. 0 becomes primary.
      22 s  agent: ReplicateFrom (AttachingReplica) 1 becomes a replica of 0.
      22 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 0.
      23 s  agent: WriteRecord (PrimaryHistory) 0 writes a history of its own now.
      23 s  agent: LabelRole (RoleMoved) 1 is labelled as replica.
      23 s  agent: LabelRole (RoleMoved) 2 is labelled as replica.
      23 s  agent: LabelRole (RoleMoved) 0 is labelled as primary."
    `);
  });

  it('the primary of a Replication data set without persistence crashes: a replica with the data goes on', () => {
    const story = { spec: { mode: 'Replication' }, seconds: 40, events: { 20: EVENT.crash(0) } } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  the container of data pod 0 crashes
      20 s  0 starts as replica of 127.255.255.254 with 0 keys
      21 s  agent: WriteRecord (RecoveringPrimary) 1 is promoted: it is the furthest along in their one history.
      21 s  agent: PromotePod (RecoveringPrimary) 1 is promoted: it is the furthest along in their one history.
      21 s  agent: ReplicateFrom (AttachingReplica) 0 becomes a replica of 1.
      21 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 1.
      22 s  agent: WriteRecord (PrimaryHistory) 1 writes a history of its own now.
      22 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      22 s  agent: LabelRole (RoleMoved) 1 is labelled as primary."
    `);
    expect(result.world.excused.size).toBe(0);
  });

  it('the node of the primary dies under Replication: a replica goes on once the primary must have fenced itself', () => {
    const events = { 20: EVENT.killNode('node-0'), 100: EVENT.reviveNode('node-0') };
    const story = { spec: { mode: 'Replication', ...VOLUMES }, seconds: 130, events } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  node node-0 dies
      33 s  agent: WriteRecord (RecoveringPrimary) 1 is promoted: 2 of 2 replicas lost 0 longer ago than it takes writes without 1 of them, and it is the furthest along in their one history.
      33 s  agent: PromotePod (RecoveringPrimary) 1 is promoted: 2 of 2 replicas lost 0 longer ago than it takes writes without 1 of them, and it is the furthest along in their one history.
      33 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 1.
      34 s  agent: WriteRecord (PrimaryHistory) 1 writes a history of its own now.
      34 s  agent: LabelRole (RoleMoved) 0 is labelled as replica.
      34 s  agent: LabelRole (RoleMoved) 1 is labelled as primary.
      99 s  node node-0 is back
      101 s  0 starts as replica of 10.0-16 with 15 keys"
    `);
    expect(result.world.resource?.status?.phase).toBe('Ready');
  });

  it('the size is raised', () => {
    const story = { spec: { mode: 'Sentinel' }, seconds: 40, events: { 20: EVENT.editSpec({ size: 4 }) } } as const;
    const { text, result } = tellStory(story);
    expect(text).toMatchInlineSnapshot(`
      "19 s  the spec is edited: {"size":4}
      20 s  agent: SetConfig (ConfigDiffers) Setting min-replicas-to-write on 1.
      20 s  agent: SetConfig (ConfigDiffers) Setting min-replicas-to-write on 2.
      20 s  agent: SetConfig (ConfigDiffers) Setting min-replicas-to-write on 0.
      21 s  agent: LabelRole (RoleMoved) 3 is labelled as replica.
      23 s  3 starts as replica of 10.0-15 with 0 keys"
    `);
    expect(result.world.resource?.status).toMatchObject({ phase: 'Ready', size: 4, readyPods: 4 });
  });

  it('deleted with its volumes retained and applied again: taken up with every key', () => {
    const events = { 20: EVENT.deleteObject, 40: EVENT.applyAgain };
    const { text, result } = tellStory({ spec: { mode: 'Sentinel', ...VOLUMES }, seconds: 70, events });
    expect(text.replaceAll(/^.*DeleteChild.*\n/gm, '')).toMatchInlineSnapshot(`
      "19 s  the RedisCluster is deleted
      20 s  agent: WriteRecord (CountingMembers) The record keeps that the data set has 3 data pods; its volumes stay.
      20 s  pod 0 is deleted
      20 s  pod 1 is deleted
      20 s  pod 2 is deleted
      20 s  pod sentinel-0 is deleted
      20 s  pod sentinel-1 is deleted
      20 s  pod sentinel-2 is deleted
      21 s  agent: RemoveFinalizer (ChildrenGone) Everything that deletionPolicy RetainVolumes names is gone.
      39 s  the RedisCluster is applied again, with the same data set id
      40 s  agent: AddFinalizer (FinalizerMissing) Holding the object until its children are taken care of.
      40 s  agent: PublishConnection (ConnectionMissing) Publishing Secret  for clients.
      41 s  agent: WriteRecord (TakenUpAgain) The data set is taken up again with its 3 data pods.
      43 s  0 starts as replica of 127.255.255.254 with 16 keys
      43 s  1 starts as replica of 127.255.255.254 with 16 keys
      43 s  2 starts as replica of 127.255.255.254 with 16 keys
      43 s  agent: PromotePod (RecoveringPrimary) 0 is promoted: it is the recorded primary and nobody is further along.
      44 s  agent: WriteRecord (PrimaryPlace) 0 is at 10.0-51 now.
      44 s  agent: ReplicateFrom (AttachingReplica) 1 becomes a replica of 0.
      44 s  agent: ReplicateFrom (AttachingReplica) 2 becomes a replica of 0.
      44 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-0 monitors 0.
      44 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-1 monitors 0.
      44 s  agent: MonitorPrimary (SentinelMonitorsNothing) Sentinel sentinel-2 monitors 0.
      44 s  agent: LabelRole (RoleMoved) 1 is labelled as replica.
      44 s  agent: LabelRole (RoleMoved) 2 is labelled as replica.
      44 s  agent: LabelRole (RoleMoved) 0 is labelled as primary."
    `);
    expect(result.world.excused.size).toBe(0);
    expect(result.world.resource?.status).toMatchObject({ phase: 'Ready', primaryTerm: 1 });
  });
});

describe('the simulation', () => {
  it('is repeated by its seed', () => {
    expect(playSeed(7, plan)).toEqual(playSeed(7, plan));
  }, 60_000);

  it('passes for seeds of every mode', () => {
    for (let seed = 32; seed < 40; seed += 1) expect(playSeed(seed, plan).violations).toEqual([]);
  }, 120_000);

  const blind = (change: (snapshot: RedisClusterSnapshot) => RedisClusterSnapshot): PlanWorld => {
    return (snapshot, nowMs) => plan(change(snapshot), nowMs);
  };
  const forgetful = blind(({ record: _, ...snapshot }) => {
    const { status: __, ...resource } = snapshot.resource;
    return { ...snapshot, resource };
  });
  const trusting = blind((snapshot) => ({
    ...snapshot,
    sentinels: Object.fromEntries(
      Object.entries(snapshot.sentinels).map(([name, facts]) => [
        name,
        facts.reachable ? { ...facts, monitors: false } : facts,
      ]),
    ),
  }));
  it.each([
    ['forgets the record', forgetful],
    ['does not listen to the Sentinels', trusting],
  ])(
    'finds out a planner that %s',
    (_name, planner) => {
      const seeds = Array.from({ length: 16 }, (_, index) => index);
      expect(seeds.some((seed) => playSeed(seed, planner).violations.length > 0)).toBe(true);
    },
    120_000,
  );
});
