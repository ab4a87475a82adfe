import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot } from '#domain';
import {
  NOW_MS,
  OTHER_HISTORY,
  drawSettled,
  idleSentinelFacts,
  masterFacts,
  podIp,
  replicaFacts,
  sentinelFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
  withResource,
  withoutRecord,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const kinds = (made: Plan): readonly string[] => made.actions.map((action) => action.kind);
const reasons = (made: Plan): readonly string[] => made.trail.map(({ reason }) => reason);
const promoted = (made: Plan): string | undefined =>
  made.actions.flatMap((action) => (action.kind === 'PromotePod' ? [action.pod] : []))[0];
const condition = (made: Plan, type: string) => made.status.conditions.find((one) => one.type === type);

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const PERSISTENT = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const idle = [idleSentinelFacts(), idleSentinelFacts(), idleSentinelFacts()];
const REPLICATION = { mode: 'Replication', ...PERSISTENT } as const;

describe('Sentinel chose another primary', () => {
  const moved = withFacts(drawSettled(), {
    redis: [replicaFacts(P0, podIp(1)), masterFacts(P1), replicaFacts(P2, podIp(1))],
    sentinels: [sentinelFacts(podIp(1)), sentinelFacts(podIp(1)), sentinelFacts(podIp(1))],
  });

  it('the record is raised before labels move, and the old label goes before the new one comes', () => {
    const made = plan(moved);
    expect(made.actions).toMatchObject([
      { kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P1 } },
      { kind: 'LabelRole', pod: P0, role: 'replica' },
      { kind: 'LabelRole', pod: P1, role: 'primary' },
    ]);
    expect(made.status.endpoints?.primaryAddress).toBe(`${podIp(1)}:6379`);
    expect(made.status.primaryTerm).toBe(2);
  });

  it.each([
    ['only one Sentinel says so', [sentinelFacts(podIp(1)), sentinelFacts(podIp(0)), silentFacts()]],
    [
      'a failover is still on',
      [sentinelFacts(podIp(1), { failoverInProgress: true }), sentinelFacts(podIp(1)), sentinelFacts(podIp(1))],
    ],
  ] as const)('nobody is moved while %s', (_name, sentinels) => {
    const made = plan(withFacts(moved, { redis: [silentFacts()], sentinels: [...sentinels] }));
    expect(kinds(made)).toEqual([]);
    expect(made.status.currentPrimary).toBeUndefined();
  });

  it('nobody is moved to a pod that itself does not say that it is primary', () => {
    const made = plan(withFacts(moved, { redis: [masterFacts(P0), replicaFacts(P1, podIp(0))] }));
    expect(kinds(made)).not.toContain('LabelRole');
  });

  it('the last known primary and address stay in the status until another is confirmed', () => {
    const status = { currentPrimary: P0, endpoints: { primaryAddress: `${podIp(0)}:6379` }, phase: 'Ready' } as const;
    const one = [sentinelFacts(podIp(1)), silentFacts(), silentFacts()];
    const unclear = withFacts(moved, { redis: [silentFacts()], sentinels: one });
    const made = plan(withResource(unclear, { status }));
    expect(made.status).toMatchObject({ currentPrimary: P0, endpoints: { primaryAddress: `${podIp(0)}:6379` } });
    expect(made.status.phase).toBe('Degraded');
  });
});

describe('Sentinels', () => {
  it('one that monitors nothing is told, without disruption', () => {
    const made = plan(withFacts(drawSettled(), { sentinels: [idleSentinelFacts()] }));
    expect(made.actions).toMatchObject([
      { kind: 'MonitorPrimary', primaryHost: podIp(0), quorum: 2, disruptive: false, masterName: P0.slice(0, -2) },
    ]);
  });

  it('of a minority with a wrong address one is told a pass', () => {
    const views = [sentinelFacts('10.9.9.9'), sentinelFacts(podIp(0)), sentinelFacts(podIp(0))];
    const made = plan(withFacts(drawSettled(), { sentinels: views }));
    expect(made.actions).toMatchObject([{ kind: 'MonitorPrimary', disruptive: true }]);
  });

  it('when no majority watches the primary all are told together, before a stale one can turn them back', () => {
    const views = [sentinelFacts('10.9.9.9'), sentinelFacts('10.9.9.9'), sentinelFacts(podIp(0))];
    const made = plan(withFacts(drawSettled(), { sentinels: views }));
    expect(kinds(made)).toEqual(['MonitorPrimary', 'MonitorPrimary']);
    expect(made.actions.some((action) => action.disruptive)).toBe(false);
  });

  it('none is touched during a failover', () => {
    const busy = sentinelFacts(podIp(0), { failoverInProgress: true });
    const made = plan(withFacts(drawSettled(), { sentinels: [busy, idleSentinelFacts(), sentinelFacts('10.9.9.9')] }));
    expect(kinds(made)).toEqual([]);
  });

  it('a changed setting is corrected on that one alone', () => {
    const settings = { ...sentinelFacts('').settings, 'down-after-milliseconds': '30000' };
    const made = plan(withFacts(drawSettled(), { sentinels: [sentinelFacts(podIp(0), { settings })] }));
    expect(made.actions).toMatchObject([
      { kind: 'SetSentinelSettings', settings: { 'down-after-milliseconds': '5000' } },
    ]);
  });
});

describe('replicas', () => {
  it('waiting ones are attached at once, a serving one alone and disruptively', () => {
    const facts = [masterFacts(P0), waitingFacts(P1), waitingFacts(P2)];
    expect(kinds(plan(withFacts(drawSettled(), { redis: facts })))).toEqual(['ReplicateFrom', 'ReplicateFrom']);
    const serving = [masterFacts(P0), replicaFacts(P1, podIp(2)), replicaFacts(P2, podIp(1))];
    const made = plan(withFacts(drawSettled(), { redis: serving }));
    expect(made.actions).toMatchObject([{ kind: 'ReplicateFrom', pod: P1, disruptive: true }]);
  });

  it('an empty primary is not let loose on a pod that holds another history', () => {
    const holding = waitingFacts(P1, { keys: 500, replicationId: OTHER_HISTORY, offsetBytes: 5_000 });
    const facts = [masterFacts(P0, { keys: 0 }), holding];
    const made = plan(withFacts(drawSettled(PERSISTENT), { redis: facts }));
    expect(kinds(made)).toEqual([]);
    expect(condition(made, 'DataAtRisk')?.reason).toBe('AttachingWouldErase');
    expect(condition(made, 'ActionRequired')?.message).toContain(`${P1} (500 keys)`);
  });

  it('a pod that holds an earlier state of the same history is attached, even to a primary that was emptied since', () => {
    const earlier = waitingFacts(P1, { keys: 500, replicationId: masterFacts(P0).replicationId, offsetBytes: 900 });
    const made = plan(withFacts(drawSettled(), { redis: [masterFacts(P0, { keys: 0 }), earlier] }));
    expect(made.actions).toMatchObject([{ kind: 'ReplicateFrom', pod: P1 }]);
  });

  it('they are attached and the Sentinels told, when these name a pod that is no primary and know nobody else', () => {
    const view = sentinelFacts(podIp(2), { replicaHosts: ['10.9.9.9'] });
    const facts = [masterFacts(P0), waitingFacts(P1), waitingFacts(P2)];
    const made = plan(withFacts(drawSettled(), { redis: facts, sentinels: [view, view, view] }));
    expect(kinds(made)).toEqual([
      'ReplicateFrom',
      'ReplicateFrom',
      'MonitorPrimary',
      'MonitorPrimary',
      'MonitorPrimary',
    ]);
  });

  it('none is given to a primary while no Sentinel majority is in sight: it may have chosen another', () => {
    const facts = [masterFacts(P0), waitingFacts(P1), waitingFacts(P2)];
    const made = plan(withFacts(drawSettled(), { redis: facts, sentinels: [silentFacts(), silentFacts()] }));
    expect(kinds(made)).toEqual([]);
  });

  it('an empty second master is made a replica', () => {
    const extra = masterFacts(P2, { keys: 0, connectedReplicas: 0, replicationId: OTHER_HISTORY });
    const made = plan(withFacts(drawSettled(), { redis: [masterFacts(P0), replicaFacts(P1, podIp(0)), extra] }));
    expect(made.actions).toMatchObject([{ kind: 'ReplicateFrom', pod: P2 }]);
  });

  it.each([
    ['loading', { loading: true }],
    ['taking a copy', { syncInProgress: true }],
  ])('one that is %s is left alone', (_name, change) => {
    const made = plan(withFacts(drawSettled(), { redis: [masterFacts(P0), waitingFacts(P1, change)] }));
    expect(kinds(made)).toEqual([]);
  });
});

describe('all pods restarted', () => {
  const restarted = (keys: readonly number[], spec: object = PERSISTENT): RedisClusterSnapshot =>
    withFacts(drawSettled(spec), {
      redis: [P0, P1, P2].map((pod, index) => waitingFacts(pod, { keys: keys[index] ?? 0 })),
      sentinels: idle,
    });

  it('the recorded primary with its data goes on, without raising the term', () => {
    const made = plan(withPod(restarted([100, 100, 100]), P1, {}));
    expect(kinds(made)).toEqual(['PromotePod']);
    expect(made.actions[0]).toMatchObject({ pod: P0, onlyIfEmpty: false, onlyIfWaiting: true, disruptive: true });
  });

  it('one that is further along in the history of the recorded one goes before it', () => {
    const history = { replicationId: OTHER_HISTORY };
    const facts = [
      waitingFacts(P0, { keys: 90, offsetBytes: 900, ...history }),
      waitingFacts(P1, { keys: 100, offsetBytes: 1_000, ...history }),
      waitingFacts(P2, { keys: 80, offsetBytes: 800, ...history }),
    ];
    const made = plan(withFacts(restarted([]), { redis: facts }));
    expect(made.actions.slice(0, 2)).toMatchObject([
      { kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P1 } },
      { kind: 'PromotePod', pod: P1 },
    ]);
  });

  it('the recorded one lost its volume: of one history the furthest goes on', () => {
    const facts = [
      waitingFacts(P0),
      waitingFacts(P1, { keys: 10, offsetBytes: 10, replicationId: OTHER_HISTORY }),
      waitingFacts(P2, { keys: 20, offsetBytes: 20, replicationId: OTHER_HISTORY }),
    ];
    expect(promoted(plan(withFacts(restarted([]), { redis: facts })))).toBe(P2);
  });

  it('the recorded one lost its volume and two others have nothing in common: a person decides', () => {
    const made = plan(restarted([0, 10, 20]));
    expect(kinds(made)).toEqual([]);
    expect(condition(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'AmbiguousHistory' });
  });

  it('one that was promoted out of the history of another goes before it, whatever the offsets', () => {
    const older = { keys: 30, offsetBytes: 3_000, replicationId: OTHER_HISTORY };
    const later = { keys: 20, offsetBytes: 2_000, replicationId: 'c'.repeat(40), secondReplicationId: OTHER_HISTORY };
    const facts = [waitingFacts(P0), waitingFacts(P1, older), waitingFacts(P2, later)];
    expect(promoted(plan(withFacts(restarted([]), { redis: facts })))).toBe(P2);
  });

  it('without persistence all are empty: the lowest goes on, the term is raised, the loss is named', () => {
    const made = plan(restarted([0, 0, 0], {}));
    expect(made.actions.slice(0, 2)).toMatchObject([
      { kind: 'WriteRecord', reason: 'DataLostAsDeclared', record: { primaryTerm: 2, primaryPod: P0 } },
      { kind: 'PromotePod', pod: P0, onlyIfEmpty: true, onlyIfWaiting: true },
    ]);
  });

  it('with persistence and all empty a person decides', () => {
    const made = plan(restarted([0, 0, 0]));
    expect(kinds(made)).toEqual([]);
    expect(condition(made, 'ActionRequired')?.reason).toBe('AllPodsEmpty');
  });

  it('without persistence and one pod silent nobody is promoted', () => {
    const made = plan(withFacts(restarted([0, 0, 0], {}), { redis: [silentFacts()] }));
    expect(kinds(made)).toEqual([]);
    expect(reasons(made)).toContain('WaitingForPods');
  });

  it('the record was lost with all else: the only pod with data goes on', () => {
    const made = plan(withoutRecord(restarted([0, 50, 0])));
    expect(promoted(made)).toBe(P1);
  });

  it('with a pod silent and no Sentinel majority in sight nobody is promoted: they may have chosen the silent one', () => {
    const facts = [waitingFacts(P0, { keys: 100 }), silentFacts(), waitingFacts(P2, { keys: 100 })];
    const unseen = withFacts(restarted([]), { redis: facts, sentinels: [silentFacts(), silentFacts()] });
    expect(kinds(plan(unseen))).toEqual([]);
    expect(promoted(plan(withFacts(unseen, { sentinels: idle })))).toBe(P0);
  });

  it('a majority of Sentinels that knows an address of today is left to decide', () => {
    const view = sentinelFacts(podIp(0), { replicaHosts: [podIp(1)] });
    const made = plan(withFacts(restarted([100, 100, 100]), { sentinels: [view, view, view] }));
    expect(kinds(made)).toEqual([]);
    expect(reasons(made)).toContain('LeftToSentinel');
  });

  it('a majority that names a pod which waits itself, and knows nobody else of today, is not waited for', () => {
    const view = sentinelFacts(podIp(0), { replicaHosts: ['10.9.9.8'] });
    const made = plan(withFacts(restarted([100, 100, 100]), { sentinels: [view, view, view] }));
    expect(promoted(made)).toBe(P0);
  });

  it('a majority of Sentinels that knows only addresses of yesterday is not waited for', () => {
    const view = sentinelFacts('10.9.9.9', { replicaHosts: ['10.9.9.8'] });
    const made = plan(withFacts(restarted([100, 100, 100]), { sentinels: [view, view, view] }));
    expect(promoted(made)).toBe(P0);
  });
});

describe('Replication without Sentinel: the primary is gone', () => {
  const down = (linkDownSinceMs: number) => ({ linkUp: false, linkDownSinceMs });
  const without = (facts: Parameters<typeof withFacts>[1]['redis']): RedisClusterSnapshot =>
    withFacts(drawSettled(REPLICATION), facts === undefined ? {} : { redis: facts });

  it.each([
    [
      'a time-out',
      withPod(
        without([silentFacts(), replicaFacts(P1, podIp(0), down(9_000)), replicaFacts(P2, podIp(0), down(9_000))]),
        P0,
        { nodeReady: false },
      ),
    ],
    [
      'a linked replica',
      without([silentFacts(), replicaFacts(P1, podIp(0)), replicaFacts(P2, podIp(0), down(90_000))]),
    ],
  ])('%s proves nothing', (_name, snapshot) => {
    expect(kinds(plan(snapshot))).toEqual([]);
  });

  it('on a node that is not Ready, a person is told exactly what is missing', () => {
    const facts = [silentFacts(), replicaFacts(P1, podIp(0), down(9_000)), replicaFacts(P2, podIp(0), down(9_000))];
    const made = plan(withPod(without(facts), P0, { nodeReady: false, ready: false }));
    expect(condition(made, 'ActionRequired')?.message).toContain(`${P0} is on node node-0, which is not Ready`);
  });

  it('proof e: it answers as a waiting replica, empty: the furthest of the others goes on', () => {
    const facts = [
      waitingFacts(P0),
      replicaFacts(P1, podIp(0), { ...down(3_000), offsetBytes: 900 }),
      replicaFacts(P2, podIp(0), { ...down(3_000), offsetBytes: 950 }),
    ];
    expect(promoted(plan(without(facts)))).toBe(P2);
  });

  it('proof e: it waits with its data on a volume: it goes on, although another pod is silent', () => {
    const facts = [waitingFacts(P0, { keys: 100 }), replicaFacts(P1, podIp(0), down(3_000)), silentFacts()];
    expect(promoted(plan(without(facts)))).toBe(P0);
  });

  it('proof c: its Node object is deleted', () => {
    const facts = [silentFacts(), replicaFacts(P1, podIp(0), down(3_000)), replicaFacts(P2, podIp(0), down(3_000))];
    const snapshot = withPod(without(facts), P0, { nodeReady: false, ready: false });
    expect(promoted(plan(snapshot))).toBeUndefined();
    const deleted = { ...snapshot, nodes: snapshot.nodes.filter(({ name }) => name !== 'node-0') };
    expect(promoted(plan(deleted))).toBe(P1);
    expect(promoted(plan({ ...deleted, nodes: [] }))).toBeUndefined();
  });

  it('a person promoted another one and moved the recorded one behind it: the record follows', () => {
    const facts = [replicaFacts(P0, podIp(2)), replicaFacts(P1, podIp(2)), masterFacts(P2)];
    const made = plan(without(facts));
    expect(made.actions[0]).toMatchObject({ kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P2 } });
    expect(made.actions.at(-1)).toMatchObject({ kind: 'LabelRole', pod: P2, role: 'primary' });
  });
});

describe('a Standalone whose container started with the settings of the mode before', () => {
  const alone = drawSettled({ mode: 'Standalone', ...PERSISTENT });

  it('is promoted with its data: nobody else would do it', () => {
    const made = plan(withFacts(alone, { redis: [waitingFacts(P0, { keys: 100 })] }));
    expect(promoted(made)).toBe(P0);
  });

  it('is not promoted empty where its volume should hold data', () => {
    const made = plan(withFacts(alone, { redis: [waitingFacts(P0)] }));
    expect(promoted(made)).toBeUndefined();
    expect(condition(made, 'ActionRequired')?.reason).toBe('AllPodsEmpty');
  });

  it('is left alone while it does not answer: it starts as primary by itself', () => {
    expect(kinds(plan(withFacts(alone, { redis: [silentFacts()] })))).toEqual([]);
  });
});

it('a promotion that the fence holds back is told as that', () => {
  const fenced = drawSettled({ ...REPLICATION, fencing: { enabled: true } });
  const waiting = [waitingFacts(P0, { keys: 100 }), waitingFacts(P1, { keys: 100 }), waitingFacts(P2, { keys: 100 })];
  const made = plan(withFacts(fenced, { redis: waiting }));
  expect(promoted(made)).toBeUndefined();
  expect(condition(made, 'Stalled')).toMatchObject({ status: 'True', reason: 'HeldByFence' });
});
