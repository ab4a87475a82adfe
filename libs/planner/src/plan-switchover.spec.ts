import { describe, expect, it } from 'vitest';
import type { RedisClusterSnapshot } from '#domain';
import {
  NOW_MS,
  drawSettled,
  idleSentinelFacts,
  masterFacts,
  podIp,
  replicaFacts,
  sentinelFacts,
  silentFacts,
  withFacts,
  withPod,
} from '#testing';
import { buildClusterView } from './cluster-view.ts';
import { findPrimary } from './find-primary.ts';
import { planSwitchover } from './plan-switchover.ts';
import type { SwitchoverRequest } from './plan-switchover.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const HOST = podIp(0);

const choose = (snapshot: RedisClusterSnapshot, request: Partial<SwitchoverRequest> = {}) => {
  const view = buildClusterView({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
  return planSwitchover(view, findPrimary(view), { reason: 'Asked', message: 'Because.', ...request });
};
const known = { replicaHosts: [podIp(1), podIp(2)] };
const settled = (mode: 'Sentinel' | 'Replication' = 'Sentinel') => {
  const picture = drawSettled({ mode });
  if (mode === 'Replication') return picture;
  return withFacts(picture, { sentinels: [0, 1, 2].map(() => sentinelFacts(HOST, known)) });
};
const refusal = (snapshot: RedisClusterSnapshot, request: Partial<SwitchoverRequest> = {}): string => {
  const made = choose(snapshot, request);
  return 'cannot' in made ? made.cannot.reason : 'none';
};

describe('the choice of a switchover', () => {
  it('hands over by Sentinel, with everything that the executor reads again', () => {
    expect(choose(settled())).toMatchObject({
      kind: 'SwitchOver',
      method: 'SENTINEL',
      from: P0,
      to: P1,
      toHost: podIp(1),
      replicas: [{ pod: P2 }],
      disruptive: true,
      reason: 'Asked',
    });
  });

  it('without Sentinel the server does it itself', () => {
    expect(choose(settled('Replication'))).toMatchObject({ method: 'COMMAND', sentinelPods: [] });
  });

  it('takes the one that is asked for, and the furthest along when nobody is', () => {
    expect(choose(settled(), { to: P2 })).toMatchObject({ to: P2, replicas: [{ pod: P1 }] });
    const behind = withFacts(settled(), {
      redis: [masterFacts(P0), replicaFacts(P1, HOST, { offsetBytes: 900 }), replicaFacts(P2, HOST)],
    });
    expect(choose(behind)).toMatchObject({ to: P2 });
  });

  it('prefers a pod of the newest revision to one further along', () => {
    const picture = settled();
    const children = picture.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'new' } } : child,
    );
    const rolling = withPod(withPod({ ...picture, children }, P1, { controllerRevision: 'old' }), P2, {
      controllerRevision: 'new',
    });
    expect(choose(rolling)).toMatchObject({ to: P2 });
  });

  it.each([
    ['is silent', silentFacts()],
    ['is not linked', replicaFacts(P1, HOST, { linkUp: false })],
    ['is receiving its copy', replicaFacts(P1, HOST, { syncInProgress: true })],
    ['has heard nothing lately', replicaFacts(P1, HOST, { lastIoSeconds: 21 })],
    ['holds another history', replicaFacts(P1, HOST, { replicationId: 'z' })],
    ['runs an older engine', replicaFacts(P1, HOST, { version: '7.0.15' })],
  ])('refuses a target that %s', (_name, facts) => {
    const picture = withFacts(settled(), { redis: [masterFacts(P0), facts, replicaFacts(P2, HOST)] });
    expect(refusal(picture, { to: P1 })).toBe('NoFitReplica');
    expect(choose(picture)).toMatchObject({ to: P2 });
  });

  it('refuses a target that lags, is on a lost node, or goes', () => {
    const lagging = withFacts(settled(), {
      redis: [masterFacts(P0, { offsetBytes: 3_000_000 }), replicaFacts(P1, HOST), replicaFacts(P2, HOST)],
    });
    expect(refusal(lagging)).toBe('NoFitReplica');
    expect(refusal(withPod(settled(), P1, { nodeReady: false }), { to: P1 })).toBe('NoFitReplica');
    expect(refusal(withPod(settled(), P1, { terminating: true }), { to: P1 })).toBe('NoFitReplica');
    expect(refusal(settled(), { to: 'nobody' })).toBe('NoSuchReplica');
    expect(refusal(settled(), { to: P0 })).toBe('NoSuchReplica');
  });

  it.each([
    ['SentinelsNotReachable', [silentFacts(), silentFacts(), sentinelFacts(HOST, known)]],
    [
      'FailoverInProgress',
      [0, 1, 2].map(() => sentinelFacts(HOST, { ...known, failoverInProgress: true, promotedHost: HOST })),
    ],
    ['NoQuorum', [0, 1, 2].map(() => sentinelFacts(HOST, { ...known, quorumOk: false }))],
    ['NoQuorum', [0, 1, 2].map(() => sentinelFacts(HOST, { ...known, flags: 's_down,master' }))],
    ['NoFitReplica', [0, 1, 2].map(() => sentinelFacts(HOST, { replicaHosts: [] }))],
    ['SentinelsDisagree', [sentinelFacts(HOST, known), idleSentinelFacts(), idleSentinelFacts()]],
  ])('waits with %s', (reason, sentinels) => {
    expect(refusal(withFacts(settled(), { sentinels }))).toBe(reason);
  });

  it('a Standalone, and a data set without a primary, have nobody to hand over to', () => {
    expect(refusal(drawSettled({ mode: 'Standalone' }))).toBe('NoReplica');
    expect(refusal(withFacts(settled(), { redis: [silentFacts(), silentFacts(), silentFacts()] }))).toBe('NoPrimary');
  });
});

describe('rule restore-priority', () => {
  it('is part of the plan for what a killed agent left behind', async () => {
    const { planRedisCluster } = await import('./plan-redis-cluster.ts');
    const left = withFacts(settled(), {
      redis: [
        masterFacts(P0, { config: { 'replica-priority': '100' } }),
        replicaFacts(P1, HOST, { config: { 'replica-priority': '1' } }),
        replicaFacts(P2, HOST),
      ],
    });
    const made = planRedisCluster({ snapshot: left, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
    expect(made.actions).toMatchObject([{ kind: 'SetConfig', pod: P1, values: { 'replica-priority': '100' } }]);
  });

  it.each([
    ['keeps 0 on a replica that has no copy yet', { linkUp: false, keys: 0 }, []],
    ['puts it back once that one was linked', { linkUp: true }, [{ kind: 'SetConfig', pod: P1 }]],
  ])('%s', async (_, change, expected) => {
    const { planRedisCluster } = await import('./plan-redis-cluster.ts');
    const config = { 'replica-priority': '0' };
    const started = withFacts(settled(), {
      redis: [masterFacts(P0), replicaFacts(P1, HOST, { config, ...change }), replicaFacts(P2, HOST)],
    });
    const made = planRedisCluster({ snapshot: started, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
    expect(made.actions.filter(({ kind }) => kind === 'SetConfig')).toMatchObject(expected);
  });
});
