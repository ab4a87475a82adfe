import { describe, expect, it } from 'vitest';
import type { Plan, PodSnapshot, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, silentFacts, withFacts, withResource } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

/** The StatefulSets have the template `new`; so have the pods, except for those of the data set that are given. */
const rolling = (spec: Partial<RedisClusterSpec>, old: readonly number[]): RedisClusterSnapshot => {
  const snapshot = withResource(drawSettled(spec), { status: { phase: 'Ready' } });
  const isOld = ({ component, ordinal }: PodSnapshot): boolean => component === 'redis' && old.includes(ordinal);
  return {
    ...snapshot,
    children: snapshot.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'new' } } : child,
    ),
    pods: snapshot.pods.map((pod) => ({ ...pod, controllerRevision: isOld(pod) ? 'old' : 'new' })),
  };
};
const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const deeds = ({ actions }: Plan): readonly string[] =>
  actions.map((action) =>
    'pod' in action ? `${action.kind} ${action.pod.replace(/^orders-\w+?-/, '')}` : action.kind,
  );
const told = (made: Plan, type: string) => made.status.conditions.find((condition) => condition.type === type);

describe('roll-out: a failover to an updated pod in the middle of a held upgrade', () => {
  /** Whoever was promoted is pod 0 here, and the one that came back with the older version is pod 1. */
  const upgraded = (spec: Partial<RedisClusterSpec>, old: Parameters<typeof replicaFacts>[2]): RedisClusterSnapshot => {
    const snapshot = rolling({ mode: 'Replication', size: 2, ...spec }, [1]);
    const config = { 'min-replicas-to-write': '1' };
    return withFacts(snapshot, {
      redis: [masterFacts('b', { version: '8.0.2', config }), replicaFacts('a', podIp(0), { config, ...old })],
    });
  };
  const unable = { version: '7.0.15', linkUp: false, keys: 0 };
  const held = [
    { updateStrategy: { partition: 1 } },
    { updateStrategy: { paused: true } },
    { maintenanceWindows: [{ start: '23:00', duration: '1h' }] },
  ] as const;

  it.each(held)('the old pod, which can never load the new snapshot, is restarted whatever holds: %j', (spec) => {
    const made = plan(upgraded(spec, unable));
    expect(deeds(made)).toEqual(['EvictPod 1']);
    expect(deeds(plan(upgraded(spec, { ...unable, syncInProgress: true })))).toEqual(['EvictPod 1']);
    expect(deeds(plan({ ...upgraded(spec, unable), disruptionsElsewhere: 2 }))).toEqual(['EvictPod 1']);
  });

  it('one that can load it is held as the user wants it', () => {
    const made = plan(upgraded({ updateStrategy: { partition: 1 } }, { ...unable, version: '7.4.2' }));
    expect(deeds(made)).toEqual([]);
    expect(made.status.rollout?.reason).toBe('PartitionReached');
  });

  const withKeys = { ...unable, keys: 10 };
  it.each(held)('one that still has its keys is the second copy, and is held: %j', (spec) => {
    const made = plan(upgraded(spec, { ...withKeys, linkDownSinceMs: 1_000 }));
    expect(deeds(made)).toEqual([]);
    expect(told(made, 'ActionRequired')?.status).toBe('False');
  });

  it('one that reads its own disk is let finish', () => {
    expect(deeds(plan(upgraded({ updateStrategy: { paused: true } }, { ...unable, loading: true })))).toEqual([]);
  });

  it.each([
    ['it says for how long', { linkDownSinceMs: DEFAULT_PLANNER_POLICY.stalledAfterMs }],
    ['the status says for how long', {}],
  ])('a person is told of one that keeps its keys and stays without a link: %s', (_, facts) => {
    const snapshot = upgraded({ updateStrategy: { paused: true } }, { ...withKeys, ...facts });
    const since = new Date(NOW_MS - DEFAULT_PLANNER_POLICY.stalledAfterMs).toISOString();
    const notReady = {
      type: 'Ready',
      status: 'False',
      reason: '',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: since,
    } as const;
    const made = plan(withResource(snapshot, { status: { phase: 'Degraded', conditions: [notReady] } }));
    expect(deeds(made)).toEqual([]);
    const asked = told(made, 'ActionRequired');
    expect(asked).toMatchObject({ status: 'True', reason: 'ReplicaCutOff' });
    for (const text of ['7.0.15', '8.0.2', 'RedisOperation']) expect(asked?.message).toContain(text);
  });

  it('a pod that does not answer is waited for: it may hold what nobody else does', () => {
    const snapshot = rolling(
      { mode: 'Replication', updateStrategy: { partition: 1 }, failover: { minReplicasToWrite: 0 } },
      [1, 2],
    );
    const primary = masterFacts('b', { version: '8.0.2' });
    const empty = replicaFacts('a', podIp(0), unable);
    const silent = plan(withFacts(snapshot, { redis: [primary, empty, silentFacts()] }));
    expect(deeds(silent)).toEqual([]);
    const both = plan(withFacts(snapshot, { redis: [primary, empty, replicaFacts('c', podIp(0), unable)] }));
    expect(deeds(both).filter((deed) => deed.startsWith('EvictPod'))).toEqual(['EvictPod 2']);
  });

  it('one that is linked all the same, by the backlog, is held too', () => {
    const made = plan(upgraded({ updateStrategy: { partition: 1 } }, { version: '7.0.15' }));
    expect(deeds(made)).toEqual([]);
  });
});
