import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot, SentinelFacts } from '#domain';
import { NOW_MS, drawSettled } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

type Answering = Extract<SentinelFacts, { reachable: true }>;

const settled = drawSettled({ mode: 'Sentinel' });
const plan = (snapshot: RedisClusterSnapshot) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const names = Object.keys(settled.sentinels).sort();

/** The settled world, where some Sentinels differ. */
const withSentinels = (change: (facts: Answering, index: number) => Partial<Answering>): RedisClusterSnapshot => ({
  ...settled,
  sentinels: Object.fromEntries(
    names.map((name, index) => {
      const facts = settled.sentinels[name] as Answering;
      return [name, { ...facts, ...change(facts, index) }];
    }),
  ),
});
const ghost = (facts: Answering): Partial<Answering> => ({
  replicaHosts: [...(facts.replicaHosts ?? []), '198.18.99.9'],
  knownReplicas: facts.knownReplicas + 1,
});

const kindsOf = (snapshot: RedisClusterSnapshot) => plan(snapshot).actions.map(({ kind }) => kind);

describe('forget-lost-replicas', () => {
  it('lets one Sentinel at a time look anew, and the data set stays Ready meanwhile', () => {
    const { actions, status } = plan(withSentinels(ghost));
    expect(actions).toMatchObject([{ kind: 'ResetSentinel', sentinelPod: names[0] }]);
    expect(status.phase).toBe('Ready');
    expect(status.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('waits until the one before sees everybody again', () => {
    const again = withSentinels((facts, index) =>
      index === 0 ? { replicaHosts: [], knownReplicas: 0, otherSentinels: 0, quorumOk: false } : ghost(facts),
    );
    expect(plan(again).actions).toEqual([]);
    expect(plan(again).status.phase).toBe('Ready');
  });

  it('does nothing while a failover runs, a Sentinel is silent or a replica is not linked', () => {
    const failover = withSentinels((facts, index) => ({ ...ghost(facts), failoverInProgress: index === 2 }));
    expect(plan(failover).actions).toEqual([]);
    const silent = withSentinels(ghost);
    const facts = { reachable: false, reason: 'TIMEOUT', message: 'No answer.' } as const;
    expect(plan({ ...silent, sentinels: { ...silent.sentinels, [names[2] ?? '']: facts } }).actions).toEqual([]);
    const replica = Object.keys(silent.redis).sort()[1] ?? '';
    const unlinked = { ...silent.redis[replica], linkUp: false } as RedisClusterSnapshot['redis'][string];
    const kinds = plan({ ...silent, redis: { ...silent.redis, [replica]: unlinked } }).actions.map(({ kind }) => kind);
    expect(kinds).not.toContain('ResetSentinel');
  });

  it('does nothing while the primary is being shut down, or a replica stands still', () => {
    const primary = settled.pods.find(({ name }) => (settled.redis[name] as { role?: string }).role === 'master');
    const shut = withSentinels(ghost);
    const pods = shut.pods.map((pod) => (pod.name === primary?.name ? { ...pod, terminating: true } : pod));
    expect(kindsOf({ ...shut, pods })).not.toContain('ResetSentinel');
    const replica = Object.keys(settled.redis).find((name) => name !== primary?.name) ?? '';
    const still = { ...settled.redis[replica], unappliedForMs: 1_500 } as RedisClusterSnapshot['redis'][string];
    expect(kindsOf({ ...shut, redis: { ...shut.redis, [replica]: still } })).toEqual(['ResumePod']);
  });

  it('plans nothing without ghosts', () => {
    expect(plan(settled).actions).toEqual([]);
  });
});
