import { describe, expect, it } from 'vitest';
import type { PodSnapshot } from '#domain';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, silentFacts, withFacts, withPod } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const SPEC = { mode: 'Replication', storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const [P0, P1, P2] = drawSettled(SPEC).pods.map((pod) => pod.name) as [string, string, string];
const backOff = (length: string): Partial<PodSnapshot> => ({
  ready: false,
  waitingReason: `CrashLoopBackOff: back-off ${length} restarting failed container=redis`,
  createdAtMs: NOW_MS - 300_000,
});

const deletedOf = (change: Partial<PodSnapshot>, linkUp = false): readonly string[] => {
  const redis = [masterFacts(P0), silentFacts('REFUSED'), replicaFacts(P2, podIp(0), { linkUp })];
  const snapshot = withPod(withFacts(drawSettled(SPEC), { redis }), P1, change);
  const { actions } = planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
  return actions.flatMap((action) => (action.kind === 'DeletePod' ? [action.pod] : []));
};

describe('a replica in crash back-off', () => {
  it.each(['20s', '1m20s', '5m0s'])('is made anew after %s when no write is taken for want of it', (length) => {
    expect(deletedOf(backOff(length))).toEqual([P1]);
  });

  it('is left alone while another replica is linked, in its first back-off, and while it is young', () => {
    expect(deletedOf(backOff('40s'), true)).toEqual([]);
    expect(deletedOf(backOff('10s'))).toEqual([]);
    expect(deletedOf({ ...backOff('40s'), createdAtMs: NOW_MS - 100_000 })).toEqual([]);
  });
});
