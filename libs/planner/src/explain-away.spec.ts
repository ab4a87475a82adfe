import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot, RedisOperationObject } from '#domain';
import {
  NOW_MS,
  OTHER_HISTORY,
  drawSettled,
  masterFacts,
  podIp,
  replicaFacts,
  sentinelFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
  withResource,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const HOST = podIp(0);
const known = { replicaHosts: [podIp(1), podIp(2)] };
const settled = (): RedisClusterSnapshot =>
  withFacts(drawSettled(), { sentinels: [0, 1, 2].map(() => sentinelFacts(HOST, known)) });
const second = (facts: RedisClusterSnapshot['redis'][string]): RedisClusterSnapshot =>
  withFacts(settled(), { redis: [masterFacts(P0), replicaFacts(P1, HOST), facts] });
const without = (picture: RedisClusterSnapshot, name: string): RedisClusterSnapshot => ({
  ...picture,
  pods: picture.pods.filter((pod) => pod.name !== name),
});

const begun: RedisOperationObject = {
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisOperation',
  metadata: { name: 'move', namespace: 'shop', uid: 'uid-move', creationTimestamp: new Date(NOW_MS).toISOString() },
  spec: { redisCluster: 'orders', type: 'Failover', failover: { to: P1 } },
  status: {
    phase: 'Running',
    startedAt: new Date(NOW_MS).toISOString(),
    noted: { primary: P0, primaryTerm: '1' },
  },
};
const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const failOver = (snapshot: RedisClusterSnapshot): Plan => plan({ ...snapshot, operations: [begun] });
const disruptions = (made: Plan): readonly string[] =>
  made.actions.filter((action) => action.disruptive).map((action) => `${action.kind} ${action.reason}`);

const AWAY: readonly (readonly [string, RedisClusterSnapshot])[] = [
  ['is missing', without(second(silentFacts('NO_ADDRESS')), P2)],
  ['is being deleted', withPod(settled(), P2, { terminating: true })],
  ['is starting', withPod(second(silentFacts('NO_ADDRESS')), P2, { phase: 'Pending', ready: false })],
  ['is starting', withPod(second(silentFacts('REFUSED')), P2, { ready: false })],
  ['is loading', withPod(second(replicaFacts(P2, HOST, { loading: true, linkUp: false })), P2, { ready: false })],
  ['is receiving', second(replicaFacts(P2, HOST, { syncInProgress: true, linkUp: false }))],
  ['is not linked', withPod(second(waitingFacts(P2)), P2, { createdAtMs: NOW_MS - 5_000 })],
];

describe('while another data pod is away', () => {
  it.each(AWAY)('a Failover waits: it %s', (what, picture) => {
    const made = failOver(picture);
    expect(disruptions(made)).toEqual([]);
    expect(made.operations).toMatchObject([{ reason: 'AnotherPodAway', phase: 'Running' }]);
    expect(made.operations?.[0]?.message).toContain(`${P2} ${what}`);
  });

  it.each([
    ['its node is lost', withPod(second(silentFacts()), P2, { nodeReady: false, terminating: true })],
    [
      'its image cannot be pulled',
      withPod(second(silentFacts()), P2, { waitingReason: 'ErrImagePull: x', phase: 'Pending' }),
    ],
    ['it keeps ending', withPod(second(silentFacts('REFUSED')), P2, { waitingReason: 'CrashLoopBackOff: x' })],
    ['it hangs', withPod(second(silentFacts('TIMEOUT')), P2, { createdAtMs: 0 })],
    [
      'its volume is never attached',
      withPod(second(silentFacts('NO_ADDRESS')), P2, { phase: 'Pending', createdAtMs: 0 }),
    ],
    ['nothing is away', settled()],
  ])('a Failover goes on when %s', (_name, picture) => {
    expect(disruptions(failOver(picture))).toEqual(['SwitchOver FailoverRequested']);
  });

  it('a primary that has to move waits', () => {
    const host = podIp(2);
    const moved = withFacts(settled(), {
      redis: [replicaFacts(P0, host), replicaFacts(P1, host), masterFacts(P2)],
      sentinels: [0, 1, 2].map(() => sentinelFacts(host, { replicaHosts: [podIp(0), podIp(1)] })),
    });
    const record = { ...settled().record, primaryPod: P2, primaryHost: host } as RedisClusterSnapshot['record'] &
      object;
    const spec = { ...moved.resource.spec, size: 2 };
    const shrinking = withResource({ ...moved, record }, { spec });
    expect(disruptions(plan(shrinking))).toEqual(['SwitchOver PrimaryMustMove']);
    const made = plan(withPod(shrinking, P1, { terminating: true }));
    expect(disruptions(made)).toEqual([]);
    expect(made.trail.map(({ reason }) => reason)).toContain('AnotherPodAway');
  });

  it('a serving replica is not moved, and is once the other is back', () => {
    const chained = (facts: RedisClusterSnapshot['redis'][string]) =>
      withFacts(settled(), { redis: [masterFacts(P0), facts, replicaFacts(P2, podIp(1))] });
    expect(disruptions(plan(chained(replicaFacts(P1, HOST))))).toEqual(['ReplicateFrom MovingReplica']);
    const made = plan(chained(replicaFacts(P1, HOST, { loading: true })));
    expect(disruptions(made)).toEqual([]);
    expect(made.trail.map(({ reason }) => reason)).toContain('AnotherPodAway');
  });

  it('a replica of a second master that holds data is taken from it all the same', () => {
    const four = drawSettled({ mode: 'Replication', size: 4, storage: { type: 'PersistentVolume', size: '1Gi' } });
    const P3 = four.pods[3]?.name ?? '';
    const rivals = withFacts(four, {
      redis: [
        masterFacts(P0),
        masterFacts(P1, { connectedReplicas: 1, replicationId: OTHER_HISTORY }),
        replicaFacts(P2, podIp(1), { replicationId: OTHER_HISTORY }),
        replicaFacts(P3, HOST, { loading: true, linkUp: false }),
      ],
    });
    const moves = plan(rivals).actions.filter(({ reason }) => reason === 'MovingReplica');
    expect(moves).toMatchObject([{ kind: 'ReplicateFrom', pod: P2 }]);
  });
});

describe('a replica that is linked to a pod which does not answer this agent', () => {
  /** Pod 2 runs, and was chosen while pod 0 stood still; the Sentinels that knew have lost their memory. */
  const chosen = (linkUp: boolean): RedisClusterSnapshot =>
    withFacts(settled(), {
      redis: [masterFacts(P0), replicaFacts(P1, podIp(2), { linkUp }), silentFacts('TIMEOUT')],
    });

  it('is not given to the recorded primary: that one would take writes again, beside the other', () => {
    const made = plan(chosen(true));
    expect(made.actions.map(({ kind }) => kind)).not.toContain('ReplicateFrom');
    expect(made.trail.map(({ reason }) => reason)).toContain('LeaderNotReachable');
  });

  it('is, once its link is down', () => {
    expect(plan(chosen(false)).actions).toMatchObject([{ kind: 'ReplicateFrom', pod: P1 }]);
  });
});
