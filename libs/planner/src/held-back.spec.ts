import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot } from '#domain';
import { drawSettled, masterFacts, podIp, replicaFacts, sentinelFacts, waitingFacts, withFacts } from '#testing';
import { NOW_MS } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

/**
 * A pair of which one was in its first copy when the primary ended: Sentinel knows it, and is not to choose it. The primary
 * comes back and waits, with every key.
 */
const settled = drawSettled({ mode: 'Sentinel', size: 2, storage: { type: 'PersistentVolume', size: '1Gi' } });
const empty = { config: { 'replica-priority': '0' }, linkUp: false, keys: 0, offsetBytes: 1 };
const sentinels = [0, 1, 2].map(() => sentinelFacts(podIp(0), { knownReplicas: 1, replicaHosts: [podIp(1)] }));
const seen = (redis: Parameters<typeof withFacts>[1]['redis'] & object): RedisClusterSnapshot =>
  withFacts(settled, { redis, sentinels });
const planOf = (snapshot: RedisClusterSnapshot) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });

describe('a replica that never had a copy', () => {
  it('is no hope of the Sentinels: the recorded primary that waits with its data is promoted', () => {
    const waiting = waitingFacts('p', { keys: 5_000 });
    const made = planOf(seen([waiting, replicaFacts('a', podIp(0), empty)]));
    expect(made.actions.filter(({ kind }) => kind === 'PromotePod')).toMatchObject([
      { pod: settled.pods.find(({ ordinal, component }) => component === 'redis' && ordinal === 0)?.name },
    ]);
  });

  it('is not what a failover is told to go to', () => {
    const ended = {
      reachable: false,
      reason: 'REFUSED',
      message: '',
      exit: { closedAtMs: NOW_MS - 100, refusedTwice: true },
    } as const;
    const kinds = (held: object): readonly string[] =>
      planOf(seen([ended, replicaFacts('a', podIp(0), { linkUp: false, ...held })])).actions.map(({ kind }) => kind);
    expect(kinds({})).toContain('FailOverBySentinel');
    expect(kinds(empty)).not.toContain('FailOverBySentinel');
    expect(kinds(empty)).not.toContain('PromotePod');
  });

  it('is a member once it is linked', () => {
    const made = planOf(seen([masterFacts('p'), replicaFacts('a', podIp(0), { config: empty.config })]));
    expect(made.actions).toMatchObject([{ kind: 'SetConfig', values: { 'replica-priority': '100' } }]);
  });
});
