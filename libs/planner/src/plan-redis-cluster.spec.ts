import { describe, expect, it } from 'vitest';
import { FINALIZER } from '#domain';
import type { Action, Plan, RedisClusterSnapshot } from '#domain';
import {
  NOW_MS,
  drawResource,
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

const plan = (snapshot: RedisClusterSnapshot, nowMs = NOW_MS): Plan =>
  planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });
const kinds = (made: Plan): readonly string[] => made.actions.map((action) => action.kind);
const condition = (made: Plan, type: string) => made.status.conditions.find((one) => one.type === type);
const only = <K extends Action['kind']>(made: Plan, kind: K): Extract<Action, { kind: K }> => {
  const found = made.actions.filter((action): action is Extract<Action, { kind: K }> => action.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as Extract<Action, { kind: K }>;
};

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const PERSISTENT = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

describe('a settled data set', () => {
  it.each(['Standalone', 'Replication', 'Sentinel'] as const)('in mode %s plans nothing and is Ready', (mode) => {
    const made = plan(drawSettled({ mode }));
    expect(made.actions).toEqual([]);
    expect(made.trail).toEqual([]);
    expect(made.status).toMatchObject({ phase: 'Ready', currentPrimary: P0, primaryTerm: 1 });
    expect(condition(made, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
  });

  it('gives the same plan for the same picture, and no times or offsets in the status', () => {
    const picture = drawSettled();
    expect(plan(picture)).toEqual(plan(picture));
    const later = withFacts(picture, { redis: [masterFacts(P0, { offsetBytes: 99_999, keys: 7_777 })] });
    expect(plan(later).status).toEqual(plan(picture).status);
  });

  it('is looked at again, since Redis changes without telling Kubernetes', () => {
    expect(plan(drawSettled()).recheckAfterMs).toBe(DEFAULT_PLANNER_POLICY.recheckLaterMs);
  });
});

describe('gates', () => {
  const broken = withPod(withFacts(drawSettled(), { redis: [silentFacts()] }), P0, { ready: false });

  it('another owner of the namespace: nothing is planned and the last status is kept', () => {
    const made = plan({ ...broken, ownsNamespace: false, scopeOwner: 'NAMESPACE/team' });
    expect(made.actions).toEqual([]);
    expect(made.trail.map(({ reason }) => reason)).toEqual(['NotOwner']);
  });

  it.each([
    ['too old', NOW_MS + DEFAULT_PLANNER_POLICY.snapshotMaxAgeMs + 1],
    ['from the future', NOW_MS - 1],
  ])('a picture that is %s is not acted on', (_name, nowMs) => {
    const made = plan({ ...broken, children: [] }, nowMs);
    expect(made.actions).toEqual([]);
    expect(made.trail.map(({ reason }) => reason)).toEqual(['StalePicture']);
  });

  it('a terminating CRD: the finalizer goes and every child stays', () => {
    const made = plan({
      ...withResource(drawSettled(), { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } }),
      crdTerminating: true,
    });
    expect(kinds(made)).toEqual(['RemoveFinalizer']);
  });

  it('a terminating CRD and no finalizer: nothing is applied, or the object could never go', () => {
    const free = withResource(drawSettled(), { metadata: { finalizers: [] } });
    expect(plan({ ...free, children: [], crdTerminating: true }).actions).toEqual([]);
  });
});

describe('deletion', () => {
  const deleting = (deletionPolicy?: 'Delete' | 'RetainVolumes' | 'Deny') =>
    withResource(drawSettled(PERSISTENT), {
      metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' },
      spec: deletionPolicy === undefined ? {} : { deletionPolicy },
    });
  const deleted = (made: Plan): readonly string[] =>
    made.actions.flatMap((action) =>
      action.kind === 'DeleteChild' ? [`${action.objectKind}/${action.key.name}`] : [],
    );

  it('by default keeps volumes, record and credentials, and deletes what runs', () => {
    const names = deleted(plan(deleting()));
    expect(names).toContain(`StatefulSet/${P0.slice(0, -2)}`);
    expect(names).toContain('Service/orders');
    expect(names).toContain('Secret/orders-connection');
    expect(names.filter((name) => /PersistentVolumeClaim|-record|-credentials/.test(name))).toEqual([]);
  });

  it('tells the record how many members there are before it deletes what tells it, and not what is left of that', () => {
    const [first, ...rest] = plan(deleting()).actions;
    expect(first).toMatchObject({ kind: 'WriteRecord', record: { members: 3 } });
    expect(new Set(rest.map(({ kind }) => kind))).toEqual(new Set(['DeleteChild']));
    const half = deleting();
    const children = half.children.filter(
      ({ kind, metadata }) => kind !== 'StatefulSet' && !/config/.test(metadata.name),
    );
    expect(kinds(plan({ ...half, children, pods: [] }))).not.toContain('WriteRecord');
    expect(kinds(plan(deleting('Delete')))).not.toContain('WriteRecord');
  });

  it('Delete takes volumes, record and, after all else, the credentials of this data set too', () => {
    const names = deleted(plan(deleting('Delete')));
    expect(names.filter((name) => name.startsWith('PersistentVolumeClaim/'))).toHaveLength(3);
    expect(names).toContain(`ConfigMap/${P0.slice(0, -2)}-record`);
    // They tell which Secrets of users are ours: an agent that is killed in between must still see those.
    const credentials = `Secret/${P0.slice(0, -2)}-credentials`;
    expect(names).not.toContain(credentials);
    const left = (picture: RedisClusterSnapshot, ...kept: string[]): RedisClusterSnapshot => ({
      ...picture,
      children: picture.children.filter(({ metadata }) => kept.includes(metadata.name)),
    });
    const [secret, connection] = [credentials.slice('Secret/'.length), 'orders-connection'];
    expect(deleted(plan(left(deleting('Delete'), secret, connection)))).toEqual([`Secret/${connection}`]);
    expect(deleted(plan(left(deleting('Delete'), secret)))).toEqual([credentials]);
  });

  it('Deny touches nothing and asks', () => {
    const made = plan(deleting('Deny'));
    expect(made.actions).toEqual([]);
    expect(made.status.phase).toBe('ActionRequired');
    expect(condition(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'DeletionDenied' });
  });

  it('Deny keeps what runs as if nobody had deleted the object', () => {
    const replaceOne = (picture: RedisClusterSnapshot): RedisClusterSnapshot => ({
      ...picture,
      pods: picture.pods.map((pod, at) => (at === 1 ? { ...pod, labels: {} } : pod)),
    });
    const made = plan(replaceOne(deleting('Deny')));
    expect(kinds(made)).toContain('LabelRole');
    expect(made.actions).toEqual(
      plan(replaceOne(withResource(drawSettled(PERSISTENT), { spec: { deletionPolicy: 'Deny' } }))).actions,
    );
    expect(condition(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'DeletionDenied' });
  });

  it('Deny does nothing in a namespace that ends, since two agents may look at it', () => {
    const picture = { ...deleting('Deny'), pods: [], namespaceTerminating: true };
    expect(kinds(plan(picture))).toEqual([]);
    expect(condition(plan(picture), 'ActionRequired')).toMatchObject({ reason: 'DeletionDenied' });
  });

  it('Deny holds nothing that is gone with its namespace', () => {
    expect(kinds(plan({ ...deleting('Deny'), children: [], namespaceTerminating: true }))).toEqual([]);
    expect(kinds(plan({ ...deleting('Deny'), children: [], pods: [] }))).toEqual(['RemoveFinalizer']);
  });

  it('holds the finalizer while one pod is left, and lets go when all is gone', () => {
    const emptied = { ...deleting('Delete'), children: [] };
    expect(kinds(plan(emptied))).toEqual([]);
    expect(plan(emptied).status.phase).toBe('Deleting');
    expect(kinds(plan({ ...emptied, pods: [] }))).toEqual(['RemoveFinalizer']);
  });

  it('kept volumes do not hold the finalizer', () => {
    const snapshot = deleting('RetainVolumes');
    const kept = snapshot.children.filter(({ kind }) => kind === 'PersistentVolumeClaim');
    expect(kinds(plan({ ...snapshot, pods: [], children: kept }))).toEqual(['RemoveFinalizer']);
  });

  it('leaves alone what carries the label but belongs to another RedisCluster', () => {
    const snapshot = deleting('Delete');
    const foreign = snapshot.children.map((child) => ({
      ...child,
      metadata: { ...child.metadata, labels: { ...child.metadata.labels, 'app.kubernetes.io/instance': 'other' } },
    }));
    expect(deleted(plan({ ...snapshot, children: foreign }))).toEqual([]);
  });
});

describe('a spec that is refused', () => {
  it.each([
    [
      'other storage',
      { storage: { type: 'PersistentVolume', size: '1Gi' }, persistence: { enabled: false } },
      'StorageChangeNotSupported',
    ],
    ['an engine that reads no RDB of 8.0', { engine: { type: 'Valkey', version: '8.1' } }, 'RdbNotReadable'],
    ['an older version', { engine: { type: 'Redis', version: '7.2' } }, 'VersionTooOld'],
    [
      "a priority of Kubernetes' own components",
      { scheduling: { priorityClassName: 'system-node-critical' } },
      'PriorityClassNotAllowed',
    ],
    ['an owned directive', { config: { port: '1' } }, 'InvalidSpec'],
  ] as const)('%s: told, and nothing is changed or deleted', (_name, spec, reason) => {
    const made = plan(withResource(drawSettled(), { spec, metadata: { generation: 2 } }));
    expect(made.actions).toEqual([]);
    expect(made.status.phase).toBe('SpecRejected');
    expect(condition(made, 'SpecRejected')).toMatchObject({ status: 'True', reason, observedGeneration: 2 });
  });

  it('another engine is taken where it reads what was written', () => {
    const settled = withResource(drawSettled(), { spec: { engine: { type: 'Valkey', version: '8.1' } } });
    const record = { ...settled.record!, primaryVersion: '7.0.15', primaryEngine: 'Redis' as const };
    expect(condition(plan({ ...settled, record }), 'SpecRejected')).toMatchObject({ status: 'False' });
  });

  it('the running data set is still kept whole: a lost Service comes back', () => {
    const settled = withResource(drawSettled(), { spec: { storage: { type: 'PersistentVolume', size: '1Gi' } } });
    const children = settled.children.filter(({ kind, metadata }) => kind !== 'Service' || metadata.name !== 'orders');
    expect(kinds(plan({ ...settled, children }))).toEqual(['ApplyChild']);
  });

  it('nothing at all is made from it when nothing runs yet', () => {
    const fresh = { ...drawSettled(), children: [], pods: [], redis: {}, sentinels: {}, credentialsPresent: false };
    const made = plan(withoutRecord(withResource(fresh, { spec: { config: { port: '1' } } })));
    expect(made.actions).toEqual([]);
  });
});

describe('credentials and children', () => {
  const nothing: RedisClusterSnapshot = withoutRecord({
    ...drawSettled(),
    resource: drawResource({}, { finalizers: [] }),
    children: [],
    pods: [],
    redis: {},
    sentinels: {},
    credentialsPresent: false,
  });

  it('a new object: finalizer, passwords, connection, then the children, what pods mount before the pods', () => {
    const made = plan(nothing);
    const applied = made.actions.flatMap((action) => (action.kind === 'ApplyChild' ? [action.object.kind] : []));
    expect(kinds(made).slice(0, 3)).toEqual(['AddFinalizer', 'CreateCredentials', 'PublishConnection']);
    expect(applied.slice(-2)).toEqual(['StatefulSet', 'StatefulSet']);
    expect(made.status.phase).toBe('Pending');
    expect(JSON.stringify(made)).not.toMatch(/passw(or)?d"/i);
  });

  it('passwords are never made anew under running pods', () => {
    const settled = drawSettled();
    const children = settled.children.filter(({ metadata }) => !metadata.name.endsWith('-credentials'));
    const made = plan({ ...settled, children, credentialsPresent: false });
    expect(kinds(made)).not.toContain('CreateCredentials');
    expect(condition(made, 'ActionRequired')).toMatchObject({ reason: 'CredentialsLost' });
    expect(condition(made, 'CredentialsInSync')?.status).toBe('False');
  });

  it('a connection Secret with another password than the credentials is published anew', () => {
    expect(kinds(plan({ ...drawSettled(), connectionOutdated: false }))).toEqual([]);
    const made = plan({ ...drawSettled(), connectionOutdated: true });
    expect(made.actions).toMatchObject([{ kind: 'PublishConnection', reason: 'ConnectionDiffers' }]);
  });

  it('an edited child is corrected by naming the field, one that is going is waited for', () => {
    const settled = drawSettled();
    const edit = (change: object) => ({
      ...settled,
      children: settled.children.map((child) =>
        child.kind === 'StatefulSet' && !child.metadata.name.endsWith('sentinel')
          ? { ...child, spec: { ...(child['spec'] as object), ...change } }
          : child,
      ),
    });
    expect(only(plan(edit({ replicas: 1 })), 'ApplyChild').message).toContain('spec.replicas');
    const going = edit({ replicas: 1 }).children.map((child) => ({
      ...child,
      metadata: { ...child.metadata, deletionTimestamp: 'now' },
    }));
    expect(kinds(plan({ ...settled, children: going }))).toEqual([]);
  });

  it('a raised size grows the StatefulSet and its settings', () => {
    const made = plan(
      withResource(drawSettled(), {
        spec: { size: 5 },
        metadata: { generation: 2 },
        status: { phase: 'Ready', observedGeneration: 1 },
      }),
    );
    expect(kinds(made)).toEqual(['ApplyChild', 'ApplyChild']);
    expect(made.status).toMatchObject({ phase: 'Updating', size: 5 });
  });
});

describe('creation', () => {
  const waiting = [waitingFacts(P0), waitingFacts(P1), waitingFacts(P2)];
  const fresh = (spec = {}): RedisClusterSnapshot => {
    const idle = [idleSentinelFacts(), idleSentinelFacts(), idleSentinelFacts()];
    const unlabelled = drawSettled(spec).pods.map((pod) => ({
      ...pod,
      labels: {},
      ready: pod.component === 'sentinel',
    }));
    return withoutRecord(withFacts({ ...drawSettled(spec), pods: unlabelled }, { redis: waiting, sentinels: idle }));
  };

  it('all pods answer, wait and are empty: the record first, then the lowest ordinal, only if still empty', () => {
    const made = plan(fresh());
    expect(kinds(made)).toEqual(['WriteRecord', 'PromotePod']);
    expect(only(made, 'WriteRecord').record).toMatchObject({ primaryTerm: 1, primaryPod: P0 });
    expect(only(made, 'WriteRecord').record.primaryVersion).toBeUndefined();
    expect(only(made, 'PromotePod')).toMatchObject({ pod: P0, onlyIfEmpty: true, onlyIfWaiting: true });
  });

  it.each([
    ['one pod does not answer', withFacts(fresh(), { redis: [waitingFacts(P0), silentFacts(), waitingFacts(P2)] })],
    ['one pod still loads', withFacts(fresh(), { redis: [waitingFacts(P0, { loading: true })] })],
    ['one pod is going', withPod(fresh(), P1, { terminating: true })],
    [
      'one pod follows somebody',
      withFacts(fresh(), { redis: [replicaFacts(P0, '10.9.9.9', { keys: 0, linkUp: false })] }),
    ],
    ['there are no pods', { ...fresh(), pods: [] }],
  ])('waits while %s', (_name, snapshot) => {
    expect(kinds(plan(snapshot))).toEqual([]);
  });

  it('waits for a pod whose volume is older than the object', () => {
    const snapshot = withPod(fresh(PERSISTENT), P2, undefined);
    const aged = snapshot.children.map((child) =>
      child.kind === 'PersistentVolumeClaim'
        ? { ...child, metadata: { ...child.metadata, creationTimestamp: '2020-01-01T00:00:00Z' } }
        : child,
    );
    expect(kinds(plan(snapshot))).toContain('PromotePod');
    expect(kinds(plan({ ...snapshot, children: aged }))).not.toContain('PromotePod');
  });

  it('killed after the record: the same pod is promoted, and no second record is written', () => {
    const record = only(plan(fresh()), 'WriteRecord').record;
    const made = plan({ ...fresh(PERSISTENT), record });
    expect(kinds(made)).toEqual(['PromotePod']);
    expect(only(made, 'PromotePod')).toMatchObject({ pod: P0, onlyIfEmpty: true });
  });

  it('killed after the promotion: the version is recorded, the rest follows, nothing is promoted again', () => {
    const record = only(plan(fresh()), 'WriteRecord').record;
    const made = plan(
      withFacts({ ...fresh(), record }, { redis: [masterFacts(P0, { keys: 0, connectedReplicas: 0 })] }),
    );
    expect(kinds(made)).toEqual([
      'WriteRecord',
      ...['ReplicateFrom', 'ReplicateFrom', 'MonitorPrimary', 'MonitorPrimary', 'MonitorPrimary'],
      ...['LabelRole', 'LabelRole', 'LabelRole'],
    ]);
    expect(made.actions.at(-1)).toMatchObject({ pod: P0, role: 'primary' });
  });

  it('a record deleted by hand does not make creation legal again', () => {
    const status = { primaryTerm: 3, currentPrimary: P0, primaryVersion: '8.0.2' };
    const made = plan(withResource(fresh(PERSISTENT), { status }));
    expect(kinds(made)).not.toContain('PromotePod');
    expect(made.status.phase).toBe('ActionRequired');
  });

  it('a primary that nobody recorded is asked about, not joined by a second', () => {
    const made = plan(withFacts(fresh(), { redis: [masterFacts(P0, { keys: 0, connectedReplicas: 0 })] }));
    expect(kinds(made)).toEqual([]);
    expect(condition(made, 'ActionRequired')?.reason).toBe('UnrecordedPrimary');
  });

  it('Standalone needs no promotion: its primary is recorded and labelled', () => {
    const alone = withoutRecord(drawSettled({ mode: 'Standalone' }));
    const unlabelled = { ...alone, pods: alone.pods.map((pod) => ({ ...pod, labels: {} })) };
    expect(kinds(plan(unlabelled))).toEqual(['WriteRecord', 'LabelRole']);
  });
});

describe('config', () => {
  const withConfig = (live: Record<string, string>) =>
    withFacts(drawSettled({ config: { 'maxmemory-policy': 'allkeys-lru', maxmemory: '100mb', databases: '32' } }), {
      redis: [
        masterFacts(P0, { config: live }),
        replicaFacts(P1, podIp(0), { config: live }),
        replicaFacts(P2, podIp(0), { config: live }),
      ],
    });

  it('equal amounts in two spellings are no difference', () => {
    const made = plan(withConfig({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '104857600', databases: '32' }));
    expect(made.actions).toEqual([]);
    expect(condition(made, 'ConfigApplied')?.status).toBe('True');
  });

  it('what somebody changed live is set back, replicas before the primary', () => {
    const made = plan(withConfig({ 'maxmemory-policy': 'noeviction', maxmemory: '104857600', databases: '32' }));
    const pods = made.actions.map((action) => (action.kind === 'SetConfig' ? action.pod : ''));
    expect(pods).toEqual([P1, P2, P0]);
    expect(made.actions[0]).toMatchObject({ values: { 'maxmemory-policy': 'allkeys-lru' }, disruptive: false });
  });

  it('what needs a restart is told, not forced', () => {
    const made = plan(withConfig({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '104857600', databases: '16' }));
    expect(made.actions).toEqual([]);
    expect(condition(made, 'ConfigApplied')).toMatchObject({ status: 'False', reason: 'RestartPending' });
  });

  it('a directive that the server does not know is told as rejected', () => {
    const made = plan(withConfig({ 'maxmemory-policy': 'allkeys-lru', databases: '32' }));
    expect(condition(made, 'ConfigApplied')).toMatchObject({ status: 'False', reason: 'DirectiveRejected' });
  });
});

describe('a node that is not Ready', () => {
  it('is told, with pod and node, and nothing is deleted', () => {
    const silent = withFacts(drawSettled(), { redis: [masterFacts(P0), silentFacts()] });
    const snapshot = withPod(silent, P1, { nodeReady: false, ready: false });
    const made = plan(withResource(snapshot, { status: { phase: 'Ready', observedGeneration: 1 } }));
    expect(made.actions).toEqual([]);
    expect(condition(made, 'NodeUnreachable')?.message).toContain(`${P1} on node-1`);
    expect(made.status.phase).toBe('Degraded');
  });
});

describe('any plan', () => {
  it('disrupts at most once, and the finalizer is never added to an object that goes', () => {
    const wrong = [sentinelFacts('10.9.9.9'), sentinelFacts('10.9.9.9'), sentinelFacts('10.9.9.9')];
    const strays = [masterFacts(P0), replicaFacts(P1, '10.9.9.9'), replicaFacts(P2, '10.9.9.9')];
    const made = plan(withFacts(drawSettled(), { redis: strays, sentinels: wrong }));
    expect(made.actions.filter((action) => action.disruptive)).toHaveLength(1);
    const going = withResource(drawSettled(), { metadata: { finalizers: [], deletionTimestamp: 'now' } });
    expect(plan(going).actions).toEqual([]);
    expect(FINALIZER).toBe('redis.atoll.dev/children');
  });
});
