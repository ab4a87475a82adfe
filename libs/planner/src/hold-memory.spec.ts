import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot, RedisClusterSpec, RedisNodeFacts, RedisOperationObject } from '#domain';
import { planHash, redisDirectives, resolveSpec } from '#manifests';
import {
  NOW_MS,
  drawSettled,
  masterFacts,
  podIp,
  replicaFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withResource,
  withoutRecord,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const limit = (memory: string): Partial<RedisClusterSpec> => ({ resources: { limits: { memory } } });
const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const told = (made: Plan, type: string) => made.status.conditions.find((condition) => condition.type === type);
const sets = (made: Plan) =>
  made.actions.flatMap((action) => (action.kind === 'SetConfig' ? [action.values['maxmemory']] : []));
const applied = (made: Plan) =>
  made.actions.flatMap((action) => (action.kind === 'ApplyChild' ? [action.object.kind] : []));

const consentTo = (hash: string): RedisOperationObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisOperation',
  metadata: { name: 'yes', namespace: 'shop', uid: 'u', creationTimestamp: new Date(NOW_MS).toISOString() },
  spec: { redisCluster: 'orders', type: 'Consent', consent: { planHash: hash } },
  status: { phase: 'Running' },
});

/** Settled under `before` with so much data, and then the spec becomes `after`. */
const change = (
  before: Partial<RedisClusterSpec>,
  after: Partial<RedisClusterSpec>,
  heldBytes: number,
  runningLimitBytes = 4 * GIB,
): RedisClusterSnapshot => {
  const mode = { mode: 'Replication' } as const;
  const snapshot = drawSettled({ ...mode, ...before });
  const config = {
    maxmemory: String(0.75 * runningLimitBytes),
    ...redisDirectives(resolveSpec(snapshot.resource.spec)),
  };
  const facts = { usedMemoryBytes: heldBytes, config };
  const seen = withFacts(snapshot, {
    redis: [masterFacts('p', facts), replicaFacts('a', podIp(0), facts), replicaFacts('b', podIp(0), facts)],
  });
  const { engine } = snapshot.resource.spec;
  return {
    ...withResource(seen, { spec: { engine, ...mode, ...after } }),
    pods: seen.pods.map((pod) => ({ ...pod, memoryLimitBytes: runningLimitBytes })),
  };
};

describe('hold-memory: a limit that leaves less than the pods hold', () => {
  const cache = { maxmemoryPercent: 70, policy: 'allkeys-lru' } as const;
  const before = { memory: cache, ...limit('4Gi') };
  const held = 2.5 * GIB;

  it('evicts nothing, renders nothing, restarts nobody, and says what to do', () => {
    const made = plan(change(before, { memory: cache, ...limit('2Gi') }, held));
    expect(made.actions).toEqual([]);
    expect(told(made, 'SpecRejected')).toMatchObject({ status: 'True', reason: 'MemoryTooSmall' });
  });

  it('said with another reserve, with none, or with a maxmemory of one’s own it is the same', () => {
    const reserve = { memory: { policy: 'allkeys-lru', reserve: '1Gi' }, ...limit('4Gi') } as const;
    expect(plan(change(reserve, { ...reserve, ...limit('3Gi') }, held)).actions).toEqual([]);
    expect(plan(change(before, { memory: { policy: 'allkeys-lru' }, ...limit('2Gi') }, held)).actions).toEqual([]);
    const explicit = { maxmemory: '1400mb', policy: 'allkeys-lru' } as const;
    expect(plan(change(before, { memory: explicit, ...limit('2Gi') }, held)).actions).toEqual([]);
    const lowered = { config: { maxmemory: '1400mb', 'maxmemory-policy': 'allkeys-lru' }, ...limit('2Gi') };
    expect(plan(change(before, lowered, held)).actions).toEqual([]);
  });

  it('with room enough it is rendered; a pod keeps the part of its own limit until its restart', () => {
    const made = plan(change(before, { memory: cache, ...limit('2Gi') }, GIB));
    expect(applied(made)).toContain('StatefulSet');
    expect(sets(made)).toEqual([]);
    expect(made.status.config?.pendingRestart).toEqual(['maxmemory']);
  });

  it('a limit that was rendered before evicts nothing either', () => {
    const after = { memory: cache, ...limit('2Gi') };
    const made = plan(change(after, after, held));
    expect(sets(made)).toEqual([]);
    expect(made.status.rollout?.reason).not.toBe('RestartingPod');
  });

  it('while no pod says what it holds nothing is lowered, and what is raised is not held', () => {
    const silent = (memory: string) => ({ ...change(before, { memory: cache, ...limit(memory) }, held), redis: {} });
    expect(applied(plan(silent('2Gi')))).toEqual([]);
    expect(applied(plan(silent('8Gi')))).toContain('StatefulSet');
  });

  it('nor while the StatefulSet is made anew around running pods', () => {
    const snapshot = change(before, { memory: cache, ...limit('2Gi') }, held);
    const orphaned = { ...snapshot, children: snapshot.children.filter(({ kind }) => kind !== 'StatefulSet') };
    const [made] = plan(orphaned).actions.flatMap((action) => (action.kind === 'ApplyChild' ? [action.object] : []));
    expect(JSON.stringify(made)).toContain('"limits":{"memory":"4Gi"}');
    expect(sets(plan(orphaned))).toEqual([]);
  });

  it('lowered together with its request it makes no other template either', () => {
    const both = (memory: string) => ({ resources: { requests: { memory, cpu: '1' }, limits: { memory } } });
    const made = plan(change({ memory: cache, ...both('4Gi') }, { memory: cache, ...both('2Gi') }, held));
    expect(told(made, 'SpecRejected')?.reason).toBe('MemoryTooSmall');
    expect(made.actions).toEqual([]);
  });

  it('a full cache whose maxmemory stays is not held', () => {
    const own = { memory: { maxmemory: '1gb', policy: 'allkeys-lru' } } as const;
    const made = plan(change({ ...own, ...limit('4Gi') }, { ...own, ...limit('2Gi') }, GIB + 20 * MIB));
    expect(told(made, 'SpecRejected')?.status).toBe('False');
  });
});

describe('hold-memory: a maxmemory far below what the pods hold', () => {
  const of = (maxmemory: string, policy: 'allkeys-lru' | 'noeviction' = 'allkeys-lru') => ({
    memory: { maxmemory, policy },
    ...limit('4Gi'),
  });
  const held = GIB;

  it('with a policy that evicts it is refused, with the hash that a person may consent to', () => {
    const after = of('100mb');
    const snapshot = change(of('2gb'), after, held);
    const made = plan(snapshot);
    expect(made.actions).toEqual([]);
    expect(told(made, 'SpecRejected')).toMatchObject({ status: 'True', reason: 'MaxmemoryBelowData' });
    const hash = planHash(snapshot.resource.spec);
    expect(told(made, 'SpecRejected')?.message).toContain(hash);
    expect(sets(plan({ ...snapshot, operations: [consentTo(hash)] }))).toEqual(['104857600', '104857600', '104857600']);
  });

  it('a policy that evicts beside a maxmemory that is far below already is refused too', () => {
    const made = plan(change(of('100mb', 'noeviction'), of('100mb'), held));
    expect(made.actions).toEqual([]);
    expect(told(made, 'SpecRejected')?.reason).toBe('MaxmemoryBelowData');
  });

  it('in steps, without eviction, or upwards it is set', () => {
    expect(sets(plan(change(of('2gb'), of('600mb'), held)))).toHaveLength(3);
    expect(sets(plan(change(of('2gb', 'noeviction'), of('100mb', 'noeviction'), held)))).toHaveLength(3);
    expect(sets(plan(change(of('100mb'), of('200mb'), held)))).toHaveLength(3);
  });
});

describe('hold-memory: nobody says what the data set holds', () => {
  const of = (maxmemory: string, memory: string, more: Partial<RedisClusterSpec> = {}) => ({
    mode: 'Standalone' as const,
    memory: { maxmemory, policy: 'allkeys-lru' as const },
    ...limit(memory),
    ...more,
  });
  const before = of('1gb', '4Gi');
  const LOWERED = [
    ['maxmemory', of('100mb', '4Gi')],
    ['the limit', of('1gb', '2Gi')],
  ] as const;
  const see = (
    after: Partial<RedisClusterSpec>,
    facts: readonly RedisNodeFacts[],
    start: Partial<RedisClusterSpec> = before,
  ): RedisClusterSnapshot => withResource(withFacts(drawSettled(start), { redis: facts }), { spec: after });
  const withoutPods = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => ({ ...snapshot, pods: [], redis: {} });
  const expectHeld = (made: Plan) => {
    expect(applied(made)).toEqual([]);
    expect(sets(made)).toEqual([]);
    expect(told(made, 'SpecRejected')).toMatchObject({ status: 'True', reason: 'DataNotSeen' });
  };
  const loading = masterFacts('p', { loading: true, keys: 3, usedMemoryBytes: 8 * MIB });

  it.each(LOWERED)('%s is not lowered while the only pod loads, and it is looked at again soon', (_, after) => {
    const made = plan(see(after, [loading]));
    expectHeld(made);
    expect(made.recheckAfterMs).toBe(DEFAULT_PLANNER_POLICY.recheckSoonMs);
  });

  it.each(LOWERED)('%s is not lowered while there is no pod', (_, after) => {
    expectHeld(plan(withoutPods(see(after, []))));
  });

  it.each(LOWERED)('%s is not lowered in hibernation; the message says to wake it', (_, after) => {
    const asleep = { hibernation: true, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
    const snapshot = withoutPods(see({ ...before, ...asleep }, [], { ...before, ...asleep }));
    const children = snapshot.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, spec: { ...(child['spec'] as object), replicas: 0 } } : child,
    );
    const [set] = plan({ ...snapshot, children }).actions.flatMap((action) =>
      action.kind === 'ApplyChild' ? [action.object] : [],
    );
    const settled = children.map((child) => (child.kind === 'StatefulSet' && set !== undefined ? set : child));
    const made = plan(withResource({ ...snapshot, children: settled }, { spec: after }));
    expectHeld(made);
    expect(told(made, 'SpecRejected')?.message).toContain('spec.hibernation: false');
    expect(told(made, 'Hibernated')?.status).toBe('True');
  });

  const pair = { mode: 'Replication', size: 2 } as const;
  const copying = replicaFacts('a', podIp(0), { syncInProgress: true, linkUp: false, usedMemoryBytes: 8 * MIB });
  const behind = replicaFacts('a', podIp(0), { linkUp: false, usedMemoryBytes: 8 * MIB });
  it.each([
    ['silent beside a replica in a copy', silentFacts(), copying],
    ['silent beside a replica that may be behind', silentFacts(), behind],
    ['told to wait', waitingFacts('p', { usedMemoryBytes: 8 * MIB }), silentFacts()],
  ])('nothing is lowered while the recorded primary is %s', (_, primary, replica) => {
    for (const [, after] of LOWERED) {
      expectHeld(plan(see({ ...after, ...pair }, [primary, replica], { ...before, ...pair })));
    }
  });

  it('a limit that a pod may need to start is raised all the same, and a maxmemory beside it stays', () => {
    const made = plan(see(of('100mb', '8Gi'), [silentFacts('REFUSED')]));
    expect(applied(made)).toEqual(['StatefulSet']);
    expect(JSON.stringify(made.actions)).toContain('"limits":{"memory":"8Gi"}');
    expect(told(made, 'SpecRejected')?.reason).toBe('DataNotSeen');
    const raised = plan(see(of('2gb', '8Gi'), [silentFacts('REFUSED')]));
    expect(applied(raised)).toEqual(expect.arrayContaining(['ConfigMap', 'StatefulSet']));
    expect(told(raised, 'SpecRejected')?.status).toBe('False');
  });

  it('a person may let it happen, with a consent to just that', () => {
    const snapshot = see(of('1gb', '2Gi'), [silentFacts()]);
    expectHeld(plan({ ...snapshot, operations: [consentTo(planHash(snapshot.resource.spec))] }));
    const hash = /planHash ([\w-]+)/.exec(told(plan(snapshot), 'SpecRejected')?.message ?? '')?.[1] ?? '';
    expect(applied(plan({ ...snapshot, operations: [consentTo(hash)] }))).toContain('StatefulSet');
  });

  it('a data set that is still being created is not held: its pods may wait for too large a node', () => {
    const unborn = (facts: RedisNodeFacts) => withoutRecord(see(of('1gb', '2Gi'), [facts]));
    expect(applied(plan(unborn(silentFacts('NO_ADDRESS'))))).toContain('StatefulSet');
    expectHeld(plan(unborn(loading)));
  });
});
