import { describe, expect, it } from 'vitest';
import type { DataSetRecord, Plan, RedisClusterSnapshot, RedisNodeFacts } from '#domain';
import {
  HISTORY,
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

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const kinds = (made: Plan): readonly string[] => made.actions.map((action) => action.kind);
const promoted = (made: Plan): string | undefined =>
  made.actions.flatMap((action) => (action.kind === 'PromotePod' ? [action.pod] : []))[0];
const condition = (made: Plan, type: string) => made.status.conditions.find((one) => one.type === type);

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const down = (linkDownSinceMs: number) => ({ linkUp: false, linkDownSinceMs });
const deadFacts = (refusedTwice = true): RedisNodeFacts => ({
  ...silentFacts('REFUSED'),
  exit: { closedAtMs: NOW_MS - 150, refusedTwice },
});
const knows = { replicaHosts: [podIp(1), podIp(2)] };
const views = (change: Parameters<typeof sentinelFacts>[1] = {}) =>
  Array.from({ length: 3 }, () => sentinelFacts(podIp(0), { ...knows, ...change }));

describe('Sentinel: the process of the primary is proven dead', () => {
  const dead = (
    facts: readonly RedisNodeFacts[],
    spec: Parameters<typeof drawSettled>[0] = {},
    sentinels = views(),
  ): RedisClusterSnapshot => withFacts(drawSettled({ ...VOLUMES, ...spec }), { redis: facts, sentinels });
  const replicas = [replicaFacts(P1, podIp(0), down(0)), replicaFacts(P2, podIp(0), down(0))];

  it('Sentinel is told, with what proves it and whom to move afterwards', () => {
    const made = plan(dead([deadFacts(), ...replicas]));
    expect(made.actions).toMatchObject([
      {
        kind: 'FailOverBySentinel',
        expectPrimaryHost: podIp(0),
        deadPod: P0,
        proof: 'EXIT',
        replicas: [{ pod: P1 }, { pod: P2 }],
      },
    ]);
  });

  it.each([
    ['a time-out (frozen, partitioned, slow) is none', dead([silentFacts('TIMEOUT'), ...replicas])],
    ['a refusal that no closed connection came before is none', dead([silentFacts('REFUSED'), ...replicas])],
    ['it was refused once only', dead([deadFacts(false), ...replicas])],
    ['a mesh stands between', dead([deadFacts(), ...replicas], { networking: { mesh: 'Istio' } })],
    ['a replica says its link is up', dead([deadFacts(), replicaFacts(P1, podIp(0)), replicas[1] as RedisNodeFacts])],
    [
      'the replicas are of two histories',
      dead([
        deadFacts(),
        replicaFacts(P1, podIp(0), { ...down(0), replicationId: OTHER_HISTORY }),
        replicas[1] as RedisNodeFacts,
      ]),
    ],
    ['the Sentinels have no quorum', dead([deadFacts(), ...replicas], {}, views({ quorumOk: false }))],
    ['a failover runs already', dead([deadFacts(), ...replicas], {}, views({ failoverInProgress: true }))],
    [
      'the Sentinels know no replica of today',
      dead([deadFacts(), ...replicas], {}, views({ replicaHosts: ['10.9.9.9'] })),
    ],
    ['failovers are Manual', dead([deadFacts(), ...replicas], { failover: { mode: 'Manual' } })],
    ['another pod says it is master', dead([deadFacts(), masterFacts(P1), replicas[1] as RedisNodeFacts])],
  ])('left to Sentinel: %s', (_name, snapshot) => {
    expect(kinds(plan(snapshot))).not.toContain('FailOverBySentinel');
    expect(kinds(plan(snapshot))).not.toContain('PromotePod');
  });

  it('its pod is gone and its kubelet was heard after every replica had lost it for 12 s', () => {
    const lost = [silentFacts(), replicaFacts(P1, podIp(0), down(20_000)), replicaFacts(P2, podIp(0), down(20_000))];
    const gone = withPod(dead(lost), P0, undefined);
    const heard = (heardAtMs: number) => ({
      ...gone,
      nodes: gone.nodes.map((node) => (node.name === 'node-0' ? { ...node, heardAtMs } : node)),
    });
    expect(kinds(plan(heard(NOW_MS - 6_000)))).toEqual([]);
    expect(plan(heard(NOW_MS - 1_000)).actions).toMatchObject([
      { kind: 'FailOverBySentinel', proof: 'GONE', deadPod: P0 },
    ]);
  });
});

describe('Replication: the primary is proven dead', () => {
  const replication = (facts: readonly RedisNodeFacts[], spec: Parameters<typeof drawSettled>[0] = {}) =>
    withFacts(drawSettled({ mode: 'Replication', ...VOLUMES, ...spec }), { redis: facts });
  const lost = (ms: number) => [replicaFacts(P1, podIp(0), down(ms)), replicaFacts(P2, podIp(0), down(ms))];

  it('proof a: the furthest replica goes on, the term is raised first, and the dead address is asked once more', () => {
    const made = plan(replication([deadFacts(), ...lost(0)]));
    expect(made.actions).toMatchObject([
      { kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P1 } },
      { kind: 'PromotePod', pod: P1, onlyIfRefused: podIp(0) },
      { kind: 'ReplicateFrom', pod: P2, primaryHost: podIp(1), disruptive: false },
    ]);
  });

  it('proof a counts for nothing behind a mesh', () => {
    expect(kinds(plan(replication([deadFacts(), ...lost(0)], { networking: { mesh: 'Istio' } })))).toEqual([]);
  });

  it('proof a: a silent second replica is not waited for when the other was linked until the end', () => {
    const until = replication([deadFacts(), replicaFacts(P1, podIp(0), down(0)), silentFacts()]);
    expect(promoted(plan(until))).toBe(P1);
    const earlier = replication([deadFacts(), replicaFacts(P1, podIp(0), down(9_000)), silentFacts()]);
    expect(promoted(plan(earlier))).toBeUndefined();
  });

  it('proof c: a person tainted its node out-of-service', () => {
    const snapshot = withPod(replication([silentFacts(), ...lost(3_000)]), P0, { nodeReady: false });
    expect(promoted(plan(snapshot))).toBeUndefined();
    const nodes = snapshot.nodes.map((node) => (node.name === 'node-0' ? { ...node, outOfService: true } : node));
    expect(promoted(plan({ ...snapshot, nodes }))).toBe(P1);
  });

  it.each([
    ['both of two lost it for 13 s', [13_000, 13_000], 1, true],
    ['one of two lost it: it may still have the other', [13_000, undefined], 1, false],
    ['both lost it, but only 11 s ago', [11_000, 11_000], 1, false],
    ['with min-replicas 2 one that lost it is enough', [13_000, undefined], 2, true],
    ['without min-replicas it never fences itself', [90_000, 90_000], 0, false],
  ] as const)('proof d: %s', (_name, sinceMs, minReplicasToWrite, expected) => {
    const facts = sinceMs.map((ms, index) =>
      ms === undefined ? silentFacts() : replicaFacts(index === 0 ? P1 : P2, podIp(0), down(ms)),
    );
    const spec = { failover: { minReplicasToWrite, dataLossPolicy: 'Allow' } } as const;
    const cut = withPod(replication([silentFacts(), ...facts], spec), P2, { nodeReady: false });
    expect(promoted(plan(cut))).toBe(expected ? P1 : undefined);
  });

  it('proof d: a replica that was made to count fewer replicas before lowers the number that counts', () => {
    const config = { 'min-replicas-to-write': '0' };
    const facts = [replicaFacts(P1, podIp(0), { ...down(90_000), config }), replicaFacts(P2, podIp(0), down(90_000))];
    expect(promoted(plan(replication([silentFacts(), ...facts])))).toBeUndefined();
  });

  it('the promotion ends what is noted of a hand-over: it is not in doubt at the next outage', () => {
    const snapshot = replication([deadFacts(), ...lost(0)]);
    const record = { ...snapshot.record, handover: { to: P2, history: HISTORY } } as DataSetRecord;
    const [raised] = plan({ ...snapshot, record }).actions;
    expect(raised).toMatchObject({ kind: 'WriteRecord', record: { primaryPod: P1, handover: undefined } });
  });

  it('Manual: nobody is promoted in its place, but the recorded primary itself goes on', () => {
    const spec = { failover: { mode: 'Manual' } } as const;
    const made = plan(replication([deadFacts(), ...lost(0)], spec));
    expect(promoted(made)).toBeUndefined();
    expect(condition(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'FailoverIsManual' });
    const back = [waitingFacts(P0, { keys: 100 }), ...lost(3_000)];
    expect(promoted(plan(replication(back, spec)))).toBe(P0);
  });

  it('a replica that hangs on another replica does not make the dead primary look alive, nor is it the one to go on', () => {
    const chained = replicaFacts(P1, podIp(2), { linkUp: true });
    expect(promoted(plan(replication([deadFacts(), chained, replicaFacts(P2, podIp(0), down(0))])))).toBe(P2);
  });

  it('all came back empty although persistent: a person decides, by dataLossPolicy', () => {
    const empty = [waitingFacts(P0), waitingFacts(P1), waitingFacts(P2)];
    expect(condition(plan(replication(empty)), 'ActionRequired')?.reason).toBe('AllPodsEmpty');
    const allowed = plan(withResource(replication(empty), { spec: { failover: { dataLossPolicy: 'Allow' } } }));
    expect(promoted(allowed)).toBe(P0);
    expect(allowed.trail.map(({ reason }) => reason)).toContain('DataLostAsDeclared');
  });
});

describe('recover-primary: of pods that are level, in the middle of an upgrade', () => {
  const level = (versions: readonly [string, string], offsets: readonly [number, number] = [100, 100]) =>
    withFacts(drawSettled({ ...VOLUMES, mode: 'Replication' }), {
      redis: [
        deadFacts(),
        replicaFacts(P1, podIp(0), { ...down(0), version: versions[0], offsetBytes: offsets[0] }),
        replicaFacts(P2, podIp(0), { ...down(0), version: versions[1], offsetBytes: offsets[1] }),
      ],
    });

  it('the older one is promoted: the newer can take a copy from it, and not the reverse', () => {
    expect(promoted(plan(level(['8.0.2', '7.0.15'])))).toBe(P2);
    expect(promoted(plan(level(['7.0.15', '8.0.2'])))).toBe(P1);
  });

  it('but never one that is behind', () => {
    expect(promoted(plan(level(['8.0.2', '7.0.15'], [100, 99])))).toBe(P1);
  });
});
