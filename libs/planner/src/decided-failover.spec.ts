import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot } from '#domain';
import type { SentinelFacts } from '#domain';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, sentinelFacts, silentFacts, withFacts } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const [, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const silentSentinel: SentinelFacts = { reachable: false, reason: 'TIMEOUT', message: 'No answer in time.' };

/** P0 was primary and is gone, P1 is promoted, P2 still follows the old address. */
const failingOver = (...sentinels: SentinelFacts[]): RedisClusterSnapshot =>
  withFacts(drawSettled(), {
    redis: [silentFacts(), masterFacts(P1), replicaFacts(P2, podIp(0), { linkUp: false })],
    sentinels,
  });
const leads = { failoverInProgress: true, flags: 'master,s_down,failover_in_progress' } as const;

describe('a failover that one Sentinel still works on', () => {
  it('is decided when the others name the new primary: the rest is moved without waiting for the leader', () => {
    const made = plan(failingOver(sentinelFacts(podIp(0), leads), sentinelFacts(podIp(1)), sentinelFacts(podIp(1))));
    expect(made.status.currentPrimary).toBe(P1);
    expect(made.actions).toContainEqual(expect.objectContaining({ kind: 'ReplicateFrom', pod: P2 }));
  });

  it('is decided with one Sentinel dead when the leader’s own choice says it is master', () => {
    const leader = sentinelFacts(podIp(0), { ...leads, promotedHost: podIp(1) });
    const made = plan(failingOver(leader, sentinelFacts(podIp(1)), silentSentinel));
    expect(made.status.currentPrimary).toBe(P1);
    expect(made.actions).toContainEqual(expect.objectContaining({ kind: 'ReplicateFrom', pod: P2 }));
  });

  it.each([
    ['nothing is chosen yet', [sentinelFacts(podIp(0), leads), sentinelFacts(podIp(0)), sentinelFacts(podIp(0))]],
    ['the two that answer disagree', [sentinelFacts(podIp(0), leads), sentinelFacts(podIp(1)), silentSentinel]],
  ] as const)('is open while %s, and nobody is moved', (_name, sentinels) => {
    const made = plan(failingOver(...sentinels));
    const kinds = made.actions.map(({ kind }) => kind);
    expect(kinds).not.toContain('ReplicateFrom');
    expect(kinds).not.toContain('LabelRole');
    expect(kinds).not.toContain('PromotePod');
  });

  it('never has its leader told to monitor anything', () => {
    const made = plan(failingOver(sentinelFacts(podIp(0), leads), sentinelFacts(podIp(1)), sentinelFacts(podIp(1))));
    expect(made.actions.map(({ kind }) => kind)).not.toContain('MonitorPrimary');
  });
});
