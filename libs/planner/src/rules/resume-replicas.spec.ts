import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot } from '#domain';
import { NOW_MS, drawSettled } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const settled = drawSettled({ mode: 'Replication' });
const plan = (snapshot: RedisClusterSnapshot) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const isReplica = (name: string): boolean => (settled.redis[name] as { role?: string }).role === 'slave';
const replica = Object.keys(settled.redis).find(isReplica) ?? '';

const standing = (unappliedForMs: number): RedisClusterSnapshot => ({
  ...settled,
  redis: { ...settled.redis, [replica]: { ...settled.redis[replica], unappliedForMs } as never },
});

describe('resume-replicas', () => {
  it('lifts a pause of a replica that stood still at two looks, and says so', () => {
    const { actions, status } = plan(standing(1_200));
    expect(actions).toMatchObject([
      { kind: 'ResumePod', pod: replica, reason: 'ReplicaStandsStill', disruptive: false },
    ]);
    const degraded = status.conditions.find(({ type }) => type === 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'ReplicaStandsStill' });
    expect(degraded?.message).toContain(`${replica} reads its primary's stream and has applied nothing of it for 1 s`);
  });

  it('looks a second time soon before it does anything', () => {
    const first = plan(standing(0));
    expect(first.actions).toEqual([]);
    expect(first.recheckAfterMs).toBe(DEFAULT_PLANNER_POLICY.recheckSoonMs);
  });

  it('calls it a risk to the data, with what to do, when no pause can be the cause any more', () => {
    const { status } = plan(standing(120_000));
    const risk = status.conditions.find(({ type }) => type === 'DataAtRisk');
    expect(risk).toMatchObject({ status: 'True', reason: 'ReplicaStandsStill' });
    expect(risk?.message).toContain('SLOWLOG');
  });
});
