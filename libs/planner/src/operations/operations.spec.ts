import { describe, expect, it } from 'vitest';
import type {
  Plan,
  PlannedOperation,
  RedisClusterSnapshot,
  RedisOperationObject,
  RedisOperationSpec,
  RedisOperationStatus,
} from '#domain';
import {
  NOW_MS,
  drawSettled,
  masterFacts,
  podIp,
  replicaFacts,
  sentinelFacts,
  silentFacts,
  withFacts,
  withPod,
} from '#testing';
import { CREDENTIAL_USERS } from '#manifests';
import { buildClusterView } from '../cluster-view.ts';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';
import { chooseHistory } from './choose-history.ts';
import { rolloutHash } from '../rollout/explain-hold.ts';
import { consentGiven } from './consent-given.ts';
import { judgeOrphans } from './judge-orphans.ts';
import { restartsAsked } from './restarts-asked.ts';
import { rotationAsked } from './rotation-asked.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const HOST = podIp(0);
const at = (offsetMs: number): string => new Date(NOW_MS + offsetMs).toISOString();

const operation = (
  name: string,
  spec: Partial<RedisOperationSpec>,
  status?: RedisOperationStatus,
  createdMs = -1_000,
): RedisOperationObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisOperation',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, generation: 1, creationTimestamp: at(createdMs) },
  spec: { redisCluster: 'orders', type: 'Failover', ...spec },
  ...(status === undefined ? {} : { status }),
});

const settled = (): RedisClusterSnapshot =>
  withFacts(drawSettled(), {
    sentinels: [0, 1, 2].map(() => sentinelFacts(HOST, { replicaHosts: [podIp(1), podIp(2)] })),
  });
const moved = (): RedisClusterSnapshot => {
  const host = podIp(1);
  return withFacts(settled(), {
    redis: [replicaFacts(P0, host), masterFacts(P1), replicaFacts(P2, host)],
    sentinels: [0, 1, 2].map(() => sentinelFacts(host, { replicaHosts: [HOST, podIp(2)] })),
  });
};
const plan = (snapshot: RedisClusterSnapshot, ...operations: RedisOperationObject[]): Plan =>
  planRedisCluster({ snapshot: { ...snapshot, operations }, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const told = (snapshot: RedisClusterSnapshot, ...operations: RedisOperationObject[]): PlannedOperation => {
  const [first] = plan(snapshot, ...operations).operations ?? [];
  if (first === undefined) throw new Error('nothing was told');
  return first;
};
const viewOf = (snapshot: RedisClusterSnapshot, ...operations: RedisOperationObject[]) =>
  buildClusterView({ snapshot: { ...snapshot, operations }, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });

const begun = (noted: Record<string, string> = { primary: P0, primaryTerm: '1' }): RedisOperationStatus => ({
  phase: 'Running',
  startedAt: at(-500),
  noted,
});
const kinds = (made: Plan) => made.actions.map(({ kind }) => kind);

describe('Failover', () => {
  it('first notes what is true and does nothing; from the next pass on it acts', () => {
    const made = plan(settled(), operation('f', {}));
    expect(kinds(made)).toEqual([]);
    expect(made.operations).toMatchObject([{ phase: 'Running', noted: { primary: P0, primaryTerm: '1' } }]);
    const next = plan(settled(), operation('f', {}, begun()));
    expect(next.actions).toMatchObject([
      { kind: 'SwitchOver', from: P0, to: P1, reason: 'FailoverRequested' },
      // In the same pass, the record before the labels, and the old label first: clients of the Service wait for it.
      { kind: 'WriteRecord', record: { primaryPod: P1, primaryTerm: 2 } },
      { kind: 'LabelRole', pod: P0, role: 'replica' },
      { kind: 'LabelRole', pod: P1, role: 'primary' },
    ]);
  });

  it('is done once another pod is primary, and plans no second hand-over', () => {
    const made = plan(moved(), operation('f', {}, begun()));
    expect(made.operations).toMatchObject([{ phase: 'Succeeded', steps: [{ state: 'Done' }] }]);
    expect(kinds(made)).not.toContain('SwitchOver');
  });

  it('is not repeated when others were faster and the noted pod is primary again', () => {
    const picture = settled();
    const record = { ...picture.record, primaryTerm: 3 } as NonNullable<RedisClusterSnapshot['record']>;
    const made = plan({ ...picture, record }, operation('f', {}, begun()));
    expect(made.operations).toMatchObject([{ phase: 'Failed', reason: 'Overtaken' }]);
    expect(kinds(made)).not.toContain('SwitchOver');
  });

  it('hands over to the replica that is named, and is done at once when it is primary already', () => {
    const named = { failover: { to: P2 } };
    expect(plan(settled(), operation('f', named, begun())).actions[0]).toMatchObject({ to: P2 });
    expect(told(settled(), operation('f', { failover: { to: P0 } })).reason).toBe('AlreadyPrimary');
    expect(told(settled(), operation('f', { failover: { to: 'x' } }))).toMatchObject({ phase: 'Failed' });
  });

  it('waits while nobody can take over, and gives up some time after it has begun', () => {
    const broken = withFacts(settled(), { redis: [masterFacts(P0), silentFacts(), silentFacts()] });
    expect(told(broken, operation('f', {}))).toMatchObject({ phase: 'Pending', reason: 'NoFitReplica' });
    const late = { ...begun(), startedAt: at(-600_000) };
    expect(told(broken, operation('f', {}, late))).toMatchObject({ phase: 'Failed', reason: 'NotInTime' });
  });

  it('is not carried out in the pass that tells that it is over: by an agent that was away for hours', () => {
    const late = operation('f', { notAfter: at(-3_600_000) }, { ...begun(), startedAt: at(-4 * 3_600_000) });
    const made = plan(settled(), late);
    expect(made.operations).toMatchObject([{ phase: 'Failed', reason: 'NotInTime' }]);
    expect(kinds(made)).not.toContain('SwitchOver');
    expect(kinds(plan(settled(), operation('f', { notAfter: at(-1) }, begun())))).toContain('SwitchOver');
  });

  it('called off: before the hand-over nothing is done; after it, it has succeeded', () => {
    const off = { cancel: true };
    const made = plan(settled(), operation('f', off, begun()));
    expect(made.operations).toMatchObject([{ phase: 'Cancelled' }]);
    expect(kinds(made)).toEqual([]);
    expect(told(settled(), operation('f', off)).phase).toBe('Cancelled');
    expect(told(moved(), operation('f', off, begun())).phase).toBe('Succeeded');
  });
});

describe('every operation', () => {
  it('is not begun after notAfter, but goes on when it was begun before', () => {
    const late = { notAfter: at(-1) };
    expect(told(settled(), operation('f', late))).toMatchObject({ phase: 'Expired' });
    expect(told(settled(), operation('f', late, begun()))).toMatchObject({ phase: 'Running' });
  });

  it.each([
    [{ generation: 7 }, 'generation'],
    [{ currentPrimary: P1 }, 'primary'],
    [{ primaryTerm: 9 }, 'term'],
  ])('fails when its precondition %o does not hold', (precondition, word) => {
    const outcome = told(settled(), operation('f', { precondition }));
    expect(outcome).toMatchObject({ phase: 'Failed', reason: 'PreconditionFailed' });
    expect(outcome.message).toContain(word);
  });

  it('begins when its precondition holds', () => {
    const precondition = { generation: 1, currentPrimary: P0, primaryTerm: 1 };
    expect(told(settled(), operation('f', { precondition })).phase).toBe('Running');
  });

  it('waits for the one before it; a Plan and a Consent do not', () => {
    const first = operation('a', {}, begun());
    const second = operation('b', { type: 'Restart' }, undefined, -500);
    const consent = operation('c', { type: 'Consent', consent: { planHash: 'h' } }, undefined, -400);
    const outcome = plan(settled(), consent, second, first).operations ?? [];
    expect(outcome.map(({ name, phase, reason }) => [name, phase, reason])).toEqual([
      ['a', 'Running', 'HandingOver'],
      ['b', 'Pending', 'WaitingForOperation'],
      ['c', 'Running', 'ConsentGiven'],
    ]);
  });

  it('one that has begun stays the one, although an older one has come up', () => {
    const older = operation('a', {}, undefined, -9_000);
    const running = operation('b', { type: 'Restart' }, begun({ [`pod/${P1}`]: 'old' }));
    const outcome = plan(settled(), older, running).operations ?? [];
    expect(outcome.map(({ name, phase }) => [name, phase])).toEqual([
      ['a', 'Pending'],
      ['b', 'Succeeded'],
    ]);
  });

  it('is left alone where another agent owns the namespace', () => {
    const made = plan({ ...settled(), ownsNamespace: false, scopeOwner: 'NAMESPACE/x' }, operation('f', {}));
    expect(made.operations).toBeUndefined();
    expect(made.forgetOperations).toBeUndefined();
  });
});

describe('Restart', () => {
  const uidOf = (name: string): string => settled().pods.find((pod) => pod.name === name)?.uid ?? '';

  it('notes the pods it found and asks for those until they are others', () => {
    const asked = { type: 'Restart', restart: { pods: [P1, P2] } } as const;
    const { noted = {} } = told(settled(), operation('r', asked));
    expect(noted).toEqual({ [`pod/${P1}`]: uidOf(P1), [`pod/${P2}`]: uidOf(P2) });
    const running = operation('r', asked, begun(noted));
    expect([...restartsAsked(viewOf(settled(), running))]).toEqual([P1, P2]);
    const half = withPod(settled(), P2, { uid: 'new' });
    expect([...restartsAsked(viewOf(half, running))]).toEqual([P1]);
    expect(told(half, running).steps).toMatchObject([{ state: 'Pending' }, { state: 'Done' }]);
    const all = withPod(half, P1, { uid: 'new', ready: false });
    expect(told(all, running)).toMatchObject({ phase: 'Running' });
    expect(told(withPod(all, P1, { ready: true }), running)).toMatchObject({ phase: 'Succeeded' });
  });

  it('without names means all, Sentinels too; called off it asks for none', () => {
    const { noted = {} } = told(settled(), operation('r', { type: 'Restart' }));
    expect(Object.keys(noted)).toHaveLength(6);
    const off = operation('r', { type: 'Restart', cancel: true }, begun(noted));
    expect(restartsAsked(viewOf(settled(), off)).size).toBe(0);
    expect(told(settled(), off)).toMatchObject({ phase: 'Cancelled' });
  });

  it('does not wait for a pod that was scaled away meanwhile', () => {
    const running = operation('r', { type: 'Restart' }, begun({ [`pod/${P2}`]: uidOf(P2) }));
    const without = (size: number): RedisClusterSnapshot => {
      const picture = settled();
      const { [P2]: _, ...redis } = picture.redis;
      const resource = { ...picture.resource, spec: { ...picture.resource.spec, size } };
      return { ...picture, resource, redis, pods: picture.pods.filter((pod) => pod.name !== P2) };
    };
    expect(told(without(3), running)).toMatchObject({ phase: 'Running' });
    expect(told(without(2), running)).toMatchObject({ phase: 'Succeeded', steps: [{ state: 'Done' }] });
  });

  it('is carried out by the roll-out', () => {
    const { noted = {} } = told(settled(), operation('r', { type: 'Restart', restart: { pods: [P2] } }));
    const made = plan(settled(), operation('r', { type: 'Restart', restart: { pods: [P2] } }, begun(noted)));
    expect(made.actions).toMatchObject([{ kind: 'EvictPod', pod: P2 }]);
  });
});

describe('RotateCredentials', () => {
  const secret = (uid?: string): RedisClusterSnapshot => {
    const picture = settled();
    const name = viewOf(picture).names.credentialsSecret;
    const annotations = uid === undefined ? {} : { 'redis.atoll.dev/rotation-operation': uid };
    const others = picture.children.filter(({ metadata }) => metadata.name !== name);
    const metadata = { name, namespace: 'shop', annotations };
    const object = { apiVersion: 'v1', kind: 'Secret', metadata, keys: [...CREDENTIAL_USERS] };
    return { ...picture, children: [...others, object] };
  };
  const asked = { type: 'RotateCredentials', rotateCredentials: { users: ['app'] } } as const;

  it('asks once, until the Secret carries its uid', () => {
    const running = operation('c', asked, begun({}));
    expect(rotationAsked(viewOf(secret(), running))).toEqual({ uid: 'uid-c', users: ['app'] });
    expect(rotationAsked(viewOf(secret('uid-c'), running))).toBeUndefined();
    expect(rotationAsked(viewOf(secret(), operation('c', asked)))).toBeUndefined();
  });

  it('holds nobody up once the Secret carries it: it may wait for an old client without end', () => {
    const running = operation('c', asked, begun({}));
    const phases = (picture: RedisClusterSnapshot, type: 'Failover' | 'RotateCredentials') =>
      plan(picture, running, operation('x', { type }, undefined, -500)).operations?.find(({ name }) => name === 'x')
        ?.phase;
    expect(phases(secret(), 'Failover')).toBe('Pending');
    expect(phases(secret('uid-c'), 'Failover')).toBe('Running');
    expect(phases(secret('uid-c'), 'RotateCredentials')).toBe('Pending');
  });

  it('is done when the Secret carries its uid and the rotation has settled', () => {
    const running = operation('c', asked, begun({}));
    expect(told(secret(), running).phase).toBe('Running');
    expect(told(secret('uid-c'), running).phase).toBe('Succeeded');
    const unread = settled();
    expect(told(unread, running).phase).toBe('Running');
    expect(told(unread, operation('c', asked))).toMatchObject({ phase: 'Pending', reason: 'NoCredentials' });
  });

  it('fails for a user whose password is not made here', () => {
    const nobody = { type: 'RotateCredentials', rotateCredentials: { users: ['app', 'nobody'] } } as const;
    expect(told(secret(), operation('c', nobody))).toMatchObject({ phase: 'Failed', reason: 'NoSuchUser' });
  });
});

describe('ReplaceUnreachable', () => {
  const asked = { type: 'ReplaceUnreachable', replaceUnreachable: { pod: P2 } } as const;
  const lost = (): RedisClusterSnapshot =>
    withPod(withFacts(settled(), { redis: [masterFacts(P0), replicaFacts(P1, HOST), silentFacts()] }), P2, {
      nodeReady: false,
      ready: false,
      node: 'gone',
    });

  it('never touches a pod on a node that is Ready, nor one that is not there', () => {
    expect(told(settled(), operation('u', asked))).toMatchObject({ phase: 'Failed', reason: 'NodeIsReady' });
    const uid = settled().pods.find((pod) => pod.name === P2)?.uid ?? '';
    const back = plan(settled(), operation('u', asked, begun({ [`pod/${P2}`]: uid })));
    expect(kinds(back)).not.toContain('DeletePod');
    expect(back.operations).toMatchObject([{ reason: 'NodeIsReady' }]);
    const nobody = { type: 'ReplaceUnreachable', replaceUnreachable: { pod: 'x' } } as const;
    expect(told(settled(), operation('u', nobody))).toMatchObject({ reason: 'NoSuchPod' });
  });

  it('deletes the very pod by force, then waits for its successor', () => {
    const { noted = {} } = told(lost(), operation('u', asked));
    const running = operation('u', asked, begun(noted));
    expect(plan(lost(), running).actions).toMatchObject([{ kind: 'DeletePod', pod: P2, force: true }]);
    const next = withPod(lost(), P2, { uid: 'new', nodeReady: true, node: 'other' });
    expect(kinds(plan(next, running))).not.toContain('DeletePod');
    expect(told(next, running)).toMatchObject({ phase: 'Running', reason: 'Starting' });
    expect(told(withPod(next, P2, { ready: true }), running)).toMatchObject({ phase: 'Succeeded' });
  });
});

describe('ReplaceUnreachable beside others', () => {
  const asked = { type: 'ReplaceUnreachable', replaceUnreachable: { pod: P2 } } as const;
  const uid = settled().pods.find((pod) => pod.name === P2)?.uid ?? '';
  const lost = withPod(withFacts(settled(), { redis: [masterFacts(P0), replicaFacts(P1, HOST), silentFacts()] }), P2, {
    nodeReady: false,
    ready: false,
    node: 'gone',
  });
  const restart = (status?: RedisOperationStatus) => operation('a', { type: 'Restart' }, status, -9_000);
  const replace = (status?: RedisOperationStatus, more: Partial<RedisOperationSpec> = {}) =>
    operation('u', { ...asked, ...more }, status);
  const phases = (snapshot: RedisClusterSnapshot, ...all: RedisOperationObject[]) =>
    Object.fromEntries((plan(snapshot, ...all).operations ?? []).map(({ name, phase }) => [name, phase]));
  const noted = begun({ [`pod/${P2}`]: uid });

  it('passes one that has begun and waits for the same node, and is carried out', () => {
    expect(phases(lost, restart(noted), replace())).toEqual({ a: 'Running', u: 'Running' });
    expect(plan(lost, restart(noted), replace(noted)).actions).toMatchObject([
      { kind: 'DeletePod', pod: P2, force: true },
    ]);
  });

  it('passes one that has not begun; that one begins after the pod is deleted', () => {
    expect(phases(lost, restart(), replace())).toEqual({ a: 'Pending', u: 'Running' });
    const gone = { ...lost, pods: lost.pods.filter(({ name }) => name !== P2) };
    expect(phases(gone, restart(), replace(noted))).toEqual({ a: 'Running', u: 'Running' });
  });

  it('two of them go one after the other', () => {
    const other = operation('z', { ...asked, replaceUnreachable: { pod: P1 } });
    expect(phases(withPod(lost, P1, { nodeReady: false }), replace(), other)).toEqual({ u: 'Running', z: 'Pending' });
  });

  it('is called off also after the pod is deleted, and says so', () => {
    const started = withPod(lost, P2, { uid: 'new', ready: false });
    const [made] = plan(started, replace(noted, { cancel: true })).operations ?? [];
    expect(made).toMatchObject({ phase: 'Cancelled' });
    expect(made?.message).toMatch(/after the pod had been deleted/);
    const [before] = plan(lost, replace(noted, { cancel: true })).operations ?? [];
    expect(before?.message).toMatch(/was not deleted/);
  });
});

describe('Consent', () => {
  const consent = (more: Partial<RedisOperationSpec>, createdMs?: number, phase: 'Running' | 'Failed' = 'Running') =>
    operation('k', { type: 'Consent', consent: { planHash: 'h' }, ...more }, { phase }, createdMs);

  it('holds for its hash, until it expires or is taken back', () => {
    expect(consentGiven(viewOf(settled(), consent({})), 'h')).toBe(true);
    expect(consentGiven(viewOf(settled(), consent({})), 'other')).toBe(false);
    expect(consentGiven(viewOf(settled(), consent({ cancel: true })), 'h')).toBe(false);
    const past = { consent: { planHash: 'h', expires: at(-1) } };
    expect(consentGiven(viewOf(settled(), consent(past)), 'h')).toBe(false);
    expect(told(settled(), consent(past)).phase).toBe('Expired');
    expect(consentGiven(viewOf(settled(), consent({}, -25 * 3_600_000)), 'h')).toBe(false);
    expect(consentGiven(viewOf(settled(), consent({}, undefined, 'Failed')), 'h')).toBe(false);
  });

  /** Only the primary is of an older template, and waits for a consent. */
  const awaiting = (): RedisClusterSnapshot => {
    const picture = drawSettled({ updateStrategy: { type: 'OnApproval' } });
    const sentinels = settled().sentinels;
    const children = picture.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'new' } } : child,
    );
    const pods = picture.pods.map((pod) => ({ ...pod, controllerRevision: pod.name === P0 ? 'old' : 'new' }));
    return { ...picture, sentinels, children, pods };
  };
  const hash = rolloutHash(viewOf(awaiting()));
  const asked = (more: Partial<RedisOperationSpec>): RedisOperationSpec => ({
    redisCluster: 'orders',
    type: 'Consent',
    consent: { planHash: hash },
    ...more,
  });

  it('first is noted, from the next pass on the primary is handed over for it', () => {
    const fresh = plan(awaiting(), operation('k', asked({})));
    expect(fresh.operations).toMatchObject([{ phase: 'Running', reason: 'ConsentGiven' }]);
    expect(kinds(fresh)).toEqual([]);
    expect(kinds(plan(awaiting(), operation('k', asked({}), { phase: 'Running' })))).toContain('SwitchOver');
  });

  it.each([
    ['whose precondition does not hold', { precondition: { currentPrimary: P2 } }, 'Failed'],
    ['that was not begun in time', { notAfter: at(-1) }, 'Expired'],
  ])('one %s lets nothing happen', (_, more, phase) => {
    const made = plan(awaiting(), operation('k', asked(more)));
    expect(made.operations).toMatchObject([{ phase }]);
    expect(kinds(made)).toEqual([]);
  });
});

describe('history and orphans', () => {
  it('keeps the newest ten that ended and never one that is not over', () => {
    const ended = Array.from({ length: 12 }, (_, index) =>
      operation(`e${index}`, {}, { phase: 'Succeeded', finishedAt: at(-100_000 + index) }),
    );
    const open = [operation('p', {}, undefined, -999_999), operation('r', {}, begun(), -999_999)];
    expect(chooseHistory([...open, ...ended]).map(({ name }) => name)).toEqual(['e1', 'e0']);
  });

  it('an operation whose RedisCluster is not there waits, and fails after a while', () => {
    const orphan = (spec: Partial<RedisOperationSpec>, createdMs?: number) =>
      judgeOrphans([operation('o', spec, undefined, createdMs)], NOW_MS)[0]?.phase;
    expect(orphan({})).toBe('Pending');
    expect(orphan({ notAfter: at(-1) })).toBe('Expired');
    expect(orphan({ cancel: true })).toBe('Cancelled');
    expect(orphan({}, -601_000)).toBe('Failed');
  });
});
