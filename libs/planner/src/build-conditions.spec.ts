import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot } from '#domain';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, withFacts } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';
import { FENCED_MIN_REPLICAS } from './shape/step-min-replicas.ts';

const seen = (snapshot: RedisClusterSnapshot, type: string) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY }).status.conditions.find(
    (condition) => condition.type === type,
  );

describe('conditions: spec.fencing beside spec.suspend', () => {
  const both = { mode: 'Replication', size: 2, fencing: { enabled: true }, suspend: true } as const;
  const withMinReplicas = (value: string): RedisClusterSnapshot => {
    const config = { 'min-replicas-to-write': value };
    return withFacts(drawSettled(both), {
      redis: [masterFacts('p', { config, connectedReplicas: 1 }), replicaFacts('r', podIp(0), { config })],
    });
  };

  it('a fence that the agent may not set is not told as set', () => {
    expect(seen(withMinReplicas('1'), 'Available')).toMatchObject({ status: 'True', reason: 'PrimaryServes' });
    expect(seen(withMinReplicas('1'), 'Fenced')).toMatchObject({ status: 'False', reason: 'FenceNotSet' });
  });

  it('one that was set before stays told', () => {
    const fenced = withMinReplicas(String(FENCED_MIN_REPLICAS));
    expect(seen(fenced, 'Available')).toMatchObject({ status: 'False', reason: 'Fenced' });
    expect(seen(fenced, 'Fenced')).toMatchObject({ status: 'True', reason: 'Fenced' });
  });
});
