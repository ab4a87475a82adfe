import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { planHash, redisDirectives, resolveSpec } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, withFacts, withResource } from '#testing';
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
    const consent = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name: 'yes', namespace: 'shop', uid: 'u', creationTimestamp: new Date(NOW_MS).toISOString() },
      spec: { redisCluster: 'orders', type: 'Consent', consent: { planHash: hash } },
      status: { phase: 'Running' },
    } as const;
    expect(sets(plan({ ...snapshot, operations: [consent] }))).toEqual(['104857600', '104857600', '104857600']);
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
