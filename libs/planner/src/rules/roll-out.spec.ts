import { describe, expect, it } from 'vitest';
import { dataSetIdOf } from '#domain';
import type {
  Action,
  DataSetRecord,
  KubeObject,
  Plan,
  PodSnapshot,
  RedisClusterSnapshot,
  RedisClusterSpec,
  RolloutStatus,
} from '#domain';
import { renderChildren, resolveSpec } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, withFacts, withPod, withResource } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { takesTurn } from '../rollout/explain-hold.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const dataPods = (snapshot: RedisClusterSnapshot): readonly PodSnapshot[] =>
  snapshot.pods.filter((pod) => pod.component === 'redis');
const sentinelPods = (snapshot: RedisClusterSnapshot): readonly PodSnapshot[] =>
  snapshot.pods.filter((pod) => pod.component === 'sentinel');

/** Both StatefulSets have the template `new`; pods are of it, except for the ordinals given. */
const rolling = (
  spec: Partial<RedisClusterSpec>,
  old: { readonly data?: readonly number[]; readonly sentinels?: readonly number[] },
): RedisClusterSnapshot => {
  const snapshot = withResource(drawSettled(spec), { status: { phase: 'Ready' } });
  const isOld = ({ component, ordinal }: PodSnapshot): boolean =>
    (component === 'redis' ? old.data : old.sentinels)?.includes(ordinal) === true;
  return {
    ...snapshot,
    children: snapshot.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'new' } } : child,
    ),
    pods: snapshot.pods.map((pod) => ({ ...pod, controllerRevision: isOld(pod) ? 'old' : 'new' })),
  };
};
/** As the claim of its first pod, for a second. */
const secondClaimOf = ({ children }: RedisClusterSnapshot): KubeObject => {
  const claim = children.find(({ kind }) => kind === 'PersistentVolumeClaim') as KubeObject;
  const name = claim.metadata.name.replace(/0$/, '1');
  return { ...claim, metadata: { ...claim.metadata, name, uid: 'uid-left' } };
};
const plan = (snapshot: RedisClusterSnapshot, nowMs = NOW_MS): Plan =>
  planRedisCluster({ snapshot: { ...snapshot, observedAtMs: nowMs }, nowMs, policy: DEFAULT_PLANNER_POLICY });
const deeds = ({ actions }: Plan): readonly string[] =>
  actions.map((action: Action) => {
    if (action.kind === 'SwitchOver') return `SwitchOver ${action.from} ${action.to}`.replaceAll(/orders-\w+-/g, '');
    return 'pod' in action ? `${action.kind} ${action.pod.replace(/^orders-\w+?-/, '')}` : action.kind;
  });
const told = (made: Plan, type: string) => made.status.conditions.find((condition) => condition.type === type);
const ALL = [0, 1, 2];
const VOLUME = { type: 'PersistentVolume', size: '1Gi' } as const;
const spec = { mode: 'Standalone', size: 1, persistence: { enabled: false }, storage: VOLUME } as const;
const begun: RolloutStatus = {
  updated: 1,
  total: 6,
  reason: 'RestartingPod',
  waitingFor: '',
  since: new Date(NOW_MS).toISOString(),
};
const withRollout = (snapshot: RedisClusterSnapshot, rollout: RolloutStatus): RedisClusterSnapshot =>
  withResource(snapshot, { status: { phase: 'Updating', rollout } });

describe('roll-out: the order', () => {
  it('is silent where every pod is of the newest template', () => {
    const made = plan(rolling({}, {}));
    expect(made.actions).toEqual([]);
    expect(made.status.rollout).toBeUndefined();
    expect(made.status.phase).toBe('Ready');
    expect(told(made, 'RestartPending')?.status).toBe('False');
  });

  it('begins with the Sentinels', () => {
    const made = plan(rolling({}, { data: ALL, sentinels: ALL }));
    expect(deeds(made)).toEqual(['EvictPod sentinel-2']);
    expect(made.status.rollout).toMatchObject({ updated: 0, total: 6, reason: 'RestartingPod' });
    expect(made.status.phase).toBe('Updating');
    expect(told(made, 'RestartPending')?.status).toBe('True');
  });

  it('goes on with replicas, by role and not by ordinal, and hands over before the old primary', () => {
    expect(deeds(plan(rolling({}, { data: ALL })))).toEqual(['EvictPod 2']);
    expect(deeds(plan(rolling({}, { data: [0, 1] })))).toEqual(['EvictPod 1']);
    const handedOver = ['SwitchOver 0 1', 'WriteRecord', 'LabelRole 0', 'LabelRole 1'];
    expect(deeds(plan(rolling({}, { data: [0] })))).toEqual(handedOver);
    expect(deeds(plan(rolling({}, { data: [1] })))).toEqual(['EvictPod 1']);
  });

  it('takes a replica that is not linked before one that is', () => {
    const snapshot = rolling({ mode: 'Replication' }, { data: ALL });
    const facts = [
      masterFacts('p', { connectedReplicas: 1 }),
      replicaFacts('a', podIp(0), { linkUp: false }),
      replicaFacts('b', podIp(0)),
    ];
    expect(deeds(plan(withFacts(snapshot, { redis: facts })))).toEqual(['EvictPod 1']);
  });
});

describe('roll-out: a user whose rules the newer engine refuses', () => {
  const user = { acceptsPrevious: false, acceptsOthers: false, rulesAsWanted: true };
  const taken = { reports: { ...user, acceptsCurrent: true } };
  const refused = { reports: { ...user, acceptsCurrent: false, rulesAsWanted: false, refused: true } };
  const with2 = (old: readonly number[]): RedisClusterSnapshot =>
    withFacts(rolling({ auth: { users: [{ name: 'reports', rules: '+later' }] } }, { data: old }), {
      redis: [
        masterFacts('p', { users: taken }),
        replicaFacts('a', podIp(0), { users: taken }),
        replicaFacts('b', podIp(0), { users: refused }),
      ],
    });
  it('is held at the first pod, before the clients of the user would be shut out', () => {
    const made = plan(with2([0, 1]));
    expect(deeds(made).filter((deed) => /Evict|SwitchOver/.test(deed))).toEqual([]);
    expect(made.status.rollout?.reason).toBe('UserRulesRefused');
    expect(made.status.rollout?.waitingFor).toContain('user reports');
  });

  it('does not hold the way back', () => {
    const made = plan(with2([2]));
    expect(made.status.rollout?.reason).not.toBe('UserRulesRefused');
  });
});

describe('roll-out: what it waits for', () => {
  const first = rolling({}, { data: [0, 1] });
  const newest = dataPods(first)[2]?.name ?? '';
  const cases: readonly (readonly [string, RedisClusterSnapshot, string])[] = [
    ['the pod that was restarted', withPod(first, newest, undefined), 'WaitingForPod'],
    ['its readiness', withPod(first, newest, { ready: false }), 'WaitingForPod'],
    [
      'its copy',
      withFacts(first, {
        redis: [masterFacts('p'), replicaFacts('a', podIp(0)), replicaFacts('b', podIp(0), { syncInProgress: true })],
      }),
      'WaitingForPod',
    ],
    [
      'the offset',
      withFacts(first, {
        redis: [
          masterFacts('p', { offsetBytes: 50_000_000 }),
          replicaFacts('a', podIp(0), { offsetBytes: 50_000_000 }),
          replicaFacts('b', podIp(0), { offsetBytes: 1 }),
        ],
      }),
      'WaitingForPod',
    ],
    ['a Sentinel', withPod(first, sentinelPods(first)[0]?.name ?? '', { ready: false }), 'WaitingForSentinels'],
    ['a node', withPod(first, newest, { nodeReady: false }), 'WaitingForPod'],
  ];
  it.each(cases)('%s', (_, snapshot, reason) => {
    const made = plan(snapshot);
    expect(made.actions.filter((action) => action.disruptive)).toEqual([]);
    expect(made.status.rollout?.reason).toBe(reason);
  });

  it('keeps the time since when it waits for the same', () => {
    const waiting = withPod(first, newest, { ready: false });
    const { rollout } = plan(waiting).status;
    expect(rollout?.since).toBe(new Date(NOW_MS).toISOString());
    const later = plan(withRollout(waiting, rollout as RolloutStatus), NOW_MS + 50_000);
    expect(later.status.rollout?.since).toBe(rollout?.since);
    expect(told(later, 'Stalled')?.status).toBe('False');
    const stalled = plan(withRollout(waiting, rollout as RolloutStatus), NOW_MS + 61_000);
    expect(told(stalled, 'Stalled')).toMatchObject({ status: 'True', reason: 'WaitingForPod' });
    expect(told(stalled, 'Stalled')?.message).toContain(rollout?.since);
    expect(stalled.actions).toEqual([]);
  });

  it('a switchover that is refused: the primary stays, and the reason is told', () => {
    const snapshot = rolling({ mode: 'Replication', size: 2 }, { data: [0] });
    const facts = [masterFacts('p'), replicaFacts('a', podIp(0), { replicationId: 'another' })];
    const made = plan(withFacts(snapshot, { redis: facts }));
    expect(deeds(made)).toEqual([]);
    expect(made.status.rollout).toMatchObject({ reason: 'NoFitReplica' });
    expect(told(made, 'RestartPending')?.message).toContain('holds another history');
  });

  it('the last one restarted, before it says that it is done', () => {
    const made = plan(withRollout(withPod(rolling({}, {}), newest, { ready: false }), begun));
    expect(made.status.rollout).toMatchObject({ updated: 6, total: 6, reason: 'WaitingForPod' });
    expect(told(made, 'RestartPending')?.status).toBe('False');
  });
});

describe('roll-out: a bad image', () => {
  const stuck = { ready: false, waitingReason: 'ErrImagePull: no such image', image: 'redis:8.0.99' };
  const unreachable = { reachable: false, reason: 'REFUSED', message: '' } as const;
  const withStuck = (snapshot: RedisClusterSnapshot, ordinal: number): RedisClusterSnapshot => {
    const name = dataPods(snapshot)[ordinal]?.name ?? '';
    const spoiled = withPod(snapshot, name, stuck);
    return { ...spoiled, redis: { ...spoiled.redis, [name]: unreachable } };
  };

  it('stops at the first pod and says which and why', () => {
    const made = plan(withStuck(rolling({}, { data: [0, 1] }), 2));
    expect(deeds(made)).toEqual([]);
    expect(made.status.rollout?.waitingFor).toContain('cannot start: ErrImagePull of redis:8.0.99');
    expect(told(made, 'Available')?.status).toBe('True');
  });

  it('gives its turn back once it has stalled at the first pod, tells so, and keeps telling', () => {
    const data = { mode: 'Replication' } as const;
    const stuckAt2 = withStuck(rolling(data, { data: [0, 1] }), 2);
    const first = plan(stuckAt2).status.rollout as RolloutStatus;
    expect(first.turn).toBeUndefined();
    const stalled = plan(withRollout(stuckAt2, first), NOW_MS + 61_000);
    expect(stalled.status.rollout).toMatchObject({ reason: 'WaitingForPod', turn: 'GivenBack' });
    expect(told(stalled, 'Stalled')).toMatchObject({ status: 'True', reason: 'WaitingForPod' });
    expect(told(stalled, 'Stalled')?.message).toContain('Other RedisClusters are rolled');
    expect(takesTurn(stalled.status.rollout)).toBe(false);
    const later = withRollout(stuckAt2, stalled.status.rollout as RolloutStatus);
    const again = plan({ ...later, disruptionsElsewhere: 2 }, NOW_MS + 90_000);
    expect(again.status.rollout).toEqual(stalled.status.rollout);
    expect(told(again, 'Stalled')?.status).toBe('True');
  });

  const stallAfter = (spec: Partial<RedisClusterSpec>, old: readonly number[], ordinal: number) => {
    const stuckAt = withStuck(rolling(spec, { data: old }), ordinal);
    return plan(withRollout(stuckAt, plan(stuckAt).status.rollout as RolloutStatus), NOW_MS + 61_000);
  };

  it('gives its turn back also where every Sentinel is new', () => {
    expect(stallAfter({ mode: 'Sentinel' }, [0, 1], 2).status.rollout?.turn).toBe('GivenBack');
  });

  it.each(['Replication', 'Sentinel'] as const)(
    'keeps its turn with two data pods, mode %s: each has one replica',
    (mode) => {
      const later = stallAfter({ mode, size: 2 }, [0], 1);
      expect(told(later, 'Stalled')?.status).toBe('True');
      expect(later.status.rollout?.turn).toBeUndefined();
    },
  );

  it('stands still since it began to wait for this pod, whatever is said of it meanwhile', () => {
    const stuckAt2 = withStuck(rolling({ mode: 'Replication' }, { data: [0, 1] }), 2);
    const name = dataPods(stuckAt2)[2]?.name ?? '';
    const first = plan(stuckAt2).status.rollout as RolloutStatus;
    const reworded = withPod(stuckAt2, name, { waitingReason: 'CreateContainerError: no such file' });
    const later = plan(withRollout(reworded, first), NOW_MS + 61_000);
    expect(later.status.rollout?.waitingFor).not.toBe(first.waitingFor);
    expect(later.status.rollout).toMatchObject({ since: first.since, turn: 'GivenBack' });
    const another = withStuck(rolling({ mode: 'Replication' }, { data: [0, 1] }), 1);
    const elsewhere = plan(withRollout(another, first), NOW_MS + 61_000);
    expect(elsewhere.status.rollout?.since).not.toBe(first.since);
  });

  it('keeps its turn where a second pod is new, or the primary is', () => {
    const since = new Date(NOW_MS).toISOString();
    for (const old of [[0], [1, 2]]) {
      const snapshot = withStuck(rolling({ mode: 'Replication' }, { data: old }), 1);
      const { rollout } = plan(snapshot).status;
      const later = plan(withRollout(snapshot, { ...(rollout as RolloutStatus), since }), NOW_MS + 200_000);
      expect(later.status.rollout?.turn).toBeUndefined();
    }
  });

  it('takes a turn again when its spec has changed, and waits for it where two others have theirs', () => {
    const given: RolloutStatus = { ...begun, reason: 'WaitingForPod', turn: 'GivenBack' };
    const changed = withRollout(withStuck(rolling({ mode: 'Replication' }, { data: ALL }), 2), given);
    const free = plan(changed);
    expect(deeds(free)).toEqual(['DeletePod 2']);
    expect(takesTurn(free.status.rollout)).toBe(true);
    const waiting = plan({ ...changed, disruptionsElsewhere: 2 });
    expect(deeds(waiting)).toEqual(['DeletePod 2']);
    expect(waiting.status.rollout?.reason).toBe('WaitingForTurn');
    const mended = withRollout(rolling({ mode: 'Replication' }, { data: [0, 1] }), given);
    expect(plan({ ...mended, disruptionsElsewhere: 2 }).status.rollout?.reason).toBe('WaitingForTurn');
    const goesOn = plan({ ...mended, disruptionsElsewhere: 1 });
    expect(deeds(goesOn)).toEqual(['EvictPod 1']);
    expect(takesTurn(goesOn.status.rollout)).toBe(true);
  });

  it('is replaced at once when the change was taken back, in no window and although it is paused', () => {
    const spec = { updateStrategy: { paused: true }, maintenanceWindows: [{ start: '23:00', duration: '1h' }] };
    const made = plan(withStuck(rolling(spec, { data: [2] }), 2));
    expect(deeds(made)).toEqual(['DeletePod 2']);
  });

  it('every pod of a new data set is replaced together', () => {
    const settled = rolling({ mode: 'Replication' }, { data: ALL });
    const { record: _, ...unborn } = ALL.reduce(withStuck, settled);
    const children = unborn.children.filter((child) => !child.metadata.name.endsWith('-record'));
    const made = deeds(plan({ ...unborn, children })).filter((deed) => deed.startsWith('DeletePod'));
    expect(made).toEqual(['DeletePod 2', 'DeletePod 1', 'DeletePod 0']);
  });

  it('a crashed primary whose disk goes with the pod is not deleted while nobody else is primary', () => {
    const crashed = { ready: false, waitingReason: 'CrashLoopBackOff: back-off', restarts: 3 };
    const spec = { mode: 'Standalone', size: 1, persistence: { enabled: true } } as const;
    const snapshot = rolling(spec, { data: [0] });
    const name = dataPods(snapshot)[0]?.name ?? '';
    const spoiled = withPod({ ...snapshot, redis: { [name]: unreachable } }, name, crashed);
    expect(deeds(plan(spoiled))).toEqual([]);
    const durable = { ...spec, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
    const kept = withPod({ ...rolling(durable, { data: [0] }), redis: { [name]: unreachable } }, name, crashed);
    expect(deeds(plan(kept))).toEqual(['DeletePod 0']);
  });
});

describe('roll-out: what holds it', () => {
  const held = (spec: Partial<RedisClusterSpec>, data: readonly number[] = ALL): Plan => plan(rolling(spec, { data }));

  it.each([
    ['paused', held({ updateStrategy: { paused: true } }), 'RolloutPaused'],
    ['a canary of none', held({ updateStrategy: { partition: 0 } }), 'PartitionReached'],
    ['a canary that is there', held({ updateStrategy: { partition: 1 } }, [0, 1]), 'PartitionReached'],
    ['no consent yet', held({ updateStrategy: { type: 'OnApproval' } }, [0]), 'ApprovalAwaited'],
    ['no open window', held({ maintenanceWindows: [{ start: '23:00', duration: '1h' }] }), 'OutsideMaintenanceWindow'],
    ['two others', plan({ ...rolling({}, { data: ALL }), disruptionsElsewhere: 2 }), 'WaitingForTurn'],
  ])('%s', (_, made, reason) => {
    expect(made.actions).toEqual([]);
    expect(made.status.rollout?.reason).toBe(reason);
    expect(told(made, 'RestartPending')).toMatchObject({ status: 'True', reason });
    // What others hold up is on its way; what the user holds is as the user wants it.
    expect(made.status.phase).toBe(reason === 'WaitingForTurn' ? 'Updating' : 'Ready');
  });

  it('tells when the next window opens, and goes on in it', () => {
    const spec = { maintenanceWindows: [{ start: '00:20', duration: '1h' }] };
    expect(held(spec).status.rollout?.waitingFor).toContain('1970-01-01T00:20Z');
    const opened = plan(rolling(spec, { data: ALL }), 20 * 60_000);
    expect(deeds(opened)).toEqual(['EvictPod 2']);
  });

  it('OnApproval lets the replicas go', () => {
    expect(deeds(held({ updateStrategy: { type: 'OnApproval' } }, [0, 1]))).toEqual(['EvictPod 1']);
  });

  it('its turn is kept in the middle, and one other leaves room', () => {
    const middle = withRollout(rolling({}, { data: [0, 1] }), begun);
    expect(deeds(plan({ ...middle, disruptionsElsewhere: 2 }))).toEqual(['EvictPod 1']);
    expect(deeds(plan({ ...rolling({}, { data: ALL }), disruptionsElsewhere: 1 }))).toEqual(['EvictPod 2']);
  });
});

describe('roll-out: a data set of one', () => {
  it('restarts in place what its volume keeps', () => {
    const spec = { mode: 'Standalone', size: 1, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
    expect(deeds(plan(rolling(spec, { data: [0] })))).toEqual(['EvictPod 0']);
  });

  it.each([
    { mode: 'Standalone', size: 1 },
    { mode: 'Replication', size: 1 },
    { mode: 'Standalone', size: 1, persistence: { enabled: true } },
  ] as const)('brings a second pod where the data would go with it: %o', (spec) => {
    const made = plan(rolling(spec, { data: [0] }));
    expect(made.actions).toMatchObject([{ kind: 'WriteRecord', record: { surge: 'Adding' } }]);
  });
});

describe('roll-out: exactly two pods', () => {
  const pair = (spec: Partial<RedisClusterSpec>, live: string): RedisClusterSnapshot => {
    const config = { 'min-replicas-to-write': live };
    return withFacts(rolling({ mode: 'Replication', size: 2, ...spec }, { data: [0, 1] }), {
      redis: [masterFacts('p', { config, connectedReplicas: 1 }), replicaFacts('a', podIp(0), { config })],
    });
  };

  it('lowers min-replicas-to-write first, so that writes go on while the only replica is away', () => {
    const first = plan(pair({}, '1'));
    expect(deeds(first)).toEqual([]);
    expect(first.status.rollout?.reason).toBe('LoweringMinReplicas');
    const second = plan(withRollout(pair({}, '1'), first.status.rollout as RolloutStatus));
    const values = second.actions.flatMap((action) => (action.kind === 'SetConfig' ? [action.values] : []));
    expect(values).toEqual([{ 'min-replicas-to-write': '0' }, { 'min-replicas-to-write': '0' }]);
  });

  it('goes on once it is low, in the running servers and as rendered', () => {
    const low = withRollout(pair({}, '0'), begun);
    const { actions } = plan(low);
    const config = actions.find((action) => action.kind === 'ApplyChild');
    const live = low.children.map((child) =>
      config?.kind === 'ApplyChild' &&
      child.kind === config.object.kind &&
      child.metadata.name === config.object.metadata.name
        ? { ...child, ...config.object, metadata: { ...child.metadata, ...config.object.metadata } }
        : child,
    );
    expect(deeds(plan({ ...low, children: live }))).toEqual(['EvictPod 1']);
  });

  it('leaves what the user set, at the price of the writes meanwhile', () => {
    expect(deeds(plan(pair({ failover: { minReplicasToWrite: 1 } }, '1')))).toEqual(['EvictPod 1']);
  });
});

describe('raise-render-version', () => {
  const ofVersion1 = (spec: Partial<RedisClusterSpec>, data: readonly number[]): RedisClusterSnapshot => {
    const snapshot = rolling(spec, { data });
    const key = { name: 'orders', namespace: 'shop', dataSetId: dataSetIdOf(snapshot.resource) };
    const rendered = renderChildren({ ...key, spec: resolveSpec(snapshot.resource.spec), renderVersion: 1 });
    const record = { ...(snapshot.record as DataSetRecord), renderVersion: 1 };
    const children = snapshot.children.map((child) => {
      const old = rendered.find(({ kind, metadata }) => kind === child.kind && metadata.name === child.metadata.name);
      return old === undefined ? child : { ...child, ...old, metadata: { ...child.metadata, ...old.metadata } };
    });
    return { ...snapshot, record, children };
  };
  const raises = (snapshot: RedisClusterSnapshot): boolean =>
    plan(snapshot).actions.some((action) => action.kind === 'WriteRecord' && action.record.renderVersion === 2);

  it('an upgrade of the agent alone changes nothing', () => {
    const made = plan(ofVersion1({}, []));
    expect(made.actions).toEqual([]);
    expect(made.status).toMatchObject({ renderVersion: 1, phase: 'Ready' });
  });

  it('comes with a restart of all data pods, and before the first of them', () => {
    const made = plan(ofVersion1({}, ALL));
    expect(made.actions.map(({ reason }) => reason)).toEqual(['RaisingRenderVersion']);
  });

  it('never in the middle of a rollout', () => {
    expect(raises(ofVersion1({}, [0, 1]))).toBe(false);
  });

  it('comes by itself in an open maintenance window only', () => {
    expect(raises(ofVersion1({ maintenanceWindows: [{ start: '00:00', duration: '1h' }] }, []))).toBe(true);
    expect(raises(ofVersion1({ maintenanceWindows: [{ start: '23:00', duration: '1h' }] }, []))).toBe(false);
    expect(raises(ofVersion1({ maintenanceWindows: [{ start: '23:00', duration: '1h' }] }, ALL))).toBe(false);
  });

  it('waits while it is paused, and for its turn', () => {
    expect(raises(ofVersion1({ updateStrategy: { paused: true } }, ALL))).toBe(false);
    expect(raises({ ...ofVersion1({}, ALL), disruptionsElsewhere: 2 })).toBe(false);
  });
});

describe('roll-out: a memory limit that was lowered', () => {
  const MIB = 1024 * 1024;
  const lowered = (usedMib: number, limit: string, runningMib = 512): Plan => {
    const resources = { limits: { memory: limit } };
    const snapshot = rolling({ mode: 'Replication', resources }, { data: ALL });
    const usedMemoryBytes = usedMib * MIB;
    const seen = withFacts(snapshot, {
      redis: [
        masterFacts('p', { usedMemoryBytes }),
        replicaFacts('a', podIp(0), { usedMemoryBytes }),
        replicaFacts('b', podIp(0), { usedMemoryBytes }),
      ],
    });
    return plan({ ...seen, pods: seen.pods.map((pod) => ({ ...pod, memoryLimitBytes: runningMib * MIB })) });
  };

  it('below what the pods hold: nobody is restarted, and it is told why', () => {
    const made = lowered(300, '256Mi');
    expect(deeds(made).filter((deed) => deed.startsWith('EvictPod'))).toEqual([]);
    expect(made.status.rollout?.reason).toBe('MemoryTooSmall');
    expect(told(made, 'RestartPending')).toMatchObject({ status: 'True', reason: 'MemoryTooSmall' });
  });

  it('with room enough, or not lowered: it is rolled out', () => {
    expect(lowered(100, '256Mi').status.rollout?.reason).not.toBe('MemoryTooSmall');
    expect(lowered(500, '512Mi').status.rollout?.reason).not.toBe('MemoryTooSmall');
    expect(lowered(500, '256Mi', 128).status.rollout?.reason).not.toBe('MemoryTooSmall');
  });
});

describe('roll-out: beside a directive that is set live', () => {
  const refusedForEver = () => {
    const snapshot = rolling({ mode: 'Replication', config: { loglevel: 'loud' } }, { data: [0, 1] });
    const config = { loglevel: 'notice' };
    const redis = [masterFacts('p', { config }), replicaFacts('a', podIp(0)), replicaFacts('b', podIp(0))];
    return withFacts(snapshot, { redis });
  };

  it('goes on: a value that never takes must not hold it without end', () => {
    const made = plan(refusedForEver());
    expect(deeds(made)).toEqual(['SetConfig 0', 'EvictPod 1']);
  });

  it('what else is done first holds it, and for how long is told although the pod changes', () => {
    const since = new Date(NOW_MS - 600_000).toISOString();
    const waits = (waitingFor: string): RolloutStatus => ({ ...begun, reason: 'WaitingForOthers', waitingFor, since });
    const lowered = withFacts(rolling({ mode: 'Replication' }, { data: [0, 1] }), {
      redis: [
        masterFacts('p', { config: { 'replica-priority': '10' } }),
        replicaFacts('a', podIp(0)),
        replicaFacts('b', podIp(0)),
      ],
    });
    const made = plan(withRollout(lowered, waits('Putting replica-priority of another pod back.')));
    expect(made.status.rollout).toMatchObject({ reason: 'WaitingForOthers', since });
    expect(told(made, 'Stalled')?.status).toBe('True');
  });
});

describe('roll-out: the extra pod of a data set of one', () => {
  const withSurgePod = (record: Partial<DataSetRecord>, old: readonly number[]): RedisClusterSnapshot => {
    const one = rolling({ mode: 'Standalone', size: 1 }, { data: old });
    const two = rolling({ mode: 'Replication', size: 2 }, { data: old });
    const surge: DataSetRecord = { ...(two.record as DataSetRecord), surge: 'Adding', ...record };
    const resource = { ...one.resource, status: { ...two.resource.status, rollout: begun } };
    const [, second = ''] = dataPods(two).map(({ name }) => name);
    const pending = { ready: false, phase: 'Pending', running: false } as const;
    const { ip: _, node: __, ...unscheduled } = two.pods.find(({ name }) => name === second) as PodSnapshot;
    return {
      ...two,
      record: surge,
      resource,
      pods: two.pods.map((pod) => (pod.name === second ? { ...unscheduled, ...pending } : pod)),
      redis: { ...two.redis, [second]: { reachable: false, reason: 'NO_ADDRESS', message: '' } },
    };
  };
  const recorded = ({ actions }: Plan) =>
    actions.flatMap((action) => (action.kind === 'WriteRecord' ? [action.record] : []));

  it('goes at once when the change is taken back, also when it could not be scheduled', () => {
    expect(recorded(plan(withSurgePod({}, [])))).toContainEqual(expect.objectContaining({ surge: 'Removing' }));
  });

  it('gives its turn back where it does not start: it takes nobody', () => {
    const since = new Date(NOW_MS - 600_000).toISOString();
    const snapshot = withSurgePod({}, [0]);
    const [, second = ''] = dataPods(snapshot).map(({ name }) => name);
    const rollout = { ...begun, reason: 'WaitingForPod', waitingFor: `${second} does not answer yet.`, since };
    expect(plan(withRollout(snapshot, rollout)).status.rollout?.turn).toBe('GivenBack');
  });

  it.each([
    ['made for it goes with it', { surgeVolume: 'Made' }, ['DeleteChild']],
    ['kept from an earlier size stays', {}, []],
  ] as const)('a volume that was %s', (_, record, kinds) => {
    const one = rolling(spec, {});
    const left = secondClaimOf(one);
    const ending: DataSetRecord = { ...(one.record as DataSetRecord), surge: 'Removing', ...record };
    const made = plan({ ...withRollout(one, begun), children: [...one.children, left], record: ending });
    expect(made.actions.filter(({ kind }) => kind === 'DeleteChild').map(({ kind }) => kind)).toEqual(kinds);
    expect(recorded(made).some(({ surge }) => surge === undefined)).toBe(kinds.length === 0);
  });

  it('the record says whether there was a volume before', () => {
    const one = rolling(spec, { data: [0] });
    expect(recorded(plan(one))).toMatchObject([{ surge: 'Adding', surgeVolume: 'Made' }]);
    expect(recorded(plan({ ...one, children: [...one.children, secondClaimOf(one)] }))[0]).not.toHaveProperty(
      'surgeVolume',
    );
  });
});

describe('roll-out: pods that a RedisOperation names', () => {
  it('are restarted first: they wait for no window, so not for those that do', () => {
    const snapshot = rolling(
      { maintenanceWindows: [{ start: '23:00', duration: '1h' }] },
      { data: ALL, sentinels: ALL },
    );
    const [, named] = dataPods(snapshot);
    const restart = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name: 'r', namespace: 'shop', uid: 'r', creationTimestamp: new Date(NOW_MS).toISOString() },
      spec: { redisCluster: 'orders', type: 'Restart', restart: { pods: [named?.name ?? ''] } },
      status: { phase: 'Running', noted: { [`pod/${named?.name ?? ''}`]: named?.uid ?? '' } },
    } as const;
    expect(deeds(plan({ ...snapshot, operations: [restart] }))).toEqual(['EvictPod 1']);
    expect(deeds(plan(snapshot))).toEqual([]);
  });
});
