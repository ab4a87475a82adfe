import { describe, expect, it } from 'vitest';
import { largestMaxmemoryBytes, memoryLimitBytes } from '#domain';
import type { Action, PlanPreview, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { CREDENTIAL_USERS, planHash, redisDirectives, resolveSpec, wantedUsers } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, sentinelFacts, withFacts } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';
import { previewChange } from './preview-change.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const HOST = podIp(0);
const used = { usedMemoryBytes: 100_000_000 };

/** As the StatefulSet controller leaves it: every pod of the newest revision. */
const drawn = (spec: Partial<RedisClusterSpec> = {}): RedisClusterSnapshot => {
  const picture = drawSettled(spec);
  return {
    ...picture,
    children: picture.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'r1' } } : child,
    ),
    pods: picture.pods.map((pod) => ({ ...pod, controllerRevision: 'r1' })),
  };
};

const settled = (): RedisClusterSnapshot =>
  withFacts(drawn(), {
    redis: [masterFacts(P0, used), replicaFacts(P1, HOST, used), replicaFacts(P2, HOST, used)],
    sentinels: [0, 1, 2].map(() => sentinelFacts(HOST, { replicaHosts: [podIp(1), podIp(2)] })),
  });

const preview = (change: Partial<RedisClusterSpec>, picture = settled()) => {
  const spec = { ...picture.resource.spec, ...change };
  const operation = {
    apiVersion: 'redis.atoll.dev/v1alpha1',
    kind: 'RedisOperation' as const,
    metadata: { name: 'p', namespace: 'shop', uid: 'uid-p' },
    spec: { redisCluster: 'orders', type: 'Plan' as const, plan: { spec } },
  };
  const snapshot = { ...picture, operations: [operation] };
  const made = planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
  const [told] = made.operations ?? [];
  return { told, plan: told?.plan as PlanPreview, made };
};

describe('RedisOperation Plan', () => {
  it('of the spec as it is tells that there is nothing to do', () => {
    const { told, plan } = preview({});
    expect(told).toMatchObject({ phase: 'Succeeded', reason: 'Planned' });
    expect(plan).toMatchObject({ actions: [], restarts: [], refusals: [], predictedSeconds: 0 });
  });

  it('changes nothing by itself', () => {
    expect(preview({ size: 5 }).made.actions).toEqual([]);
  });

  it('of a change of the pod template: Sentinels, replicas, a switchover, and the old primary last', () => {
    const { plan } = preview({ resources: { limits: { memory: '2Gi' } } });
    expect(plan.restarts).toEqual([P2, P1, P0]);
    const order = plan.actions.map(({ kind }) => kind).filter((kind) => kind === 'EvictPod' || kind === 'SwitchOver');
    expect(order).toEqual(['EvictPod', 'EvictPod', 'SwitchOver', 'EvictPod']);
    expect(plan.predictedSeconds).toBeGreaterThan(20);
    expect(plan.peakMemoryBytes).toBe(400_000_000);
  });

  it('of a bigger size: pods are added and nothing is restarted', () => {
    const { plan } = preview({ size: 4 });
    expect(plan.restarts).toEqual([]);
    expect(plan.actions.map(({ object }) => object)).toContain(`StatefulSet ${P0.slice(0, -2)}`);
  });

  it('of a directive that is set live: no restart', () => {
    const { plan } = preview({ config: { 'maxmemory-policy': 'allkeys-lru' } });
    expect(plan.restarts).toEqual([]);
  });

  it('tells what would be refused', () => {
    const { told, plan } = preview({ engine: { type: 'Redis', version: '7.0' } });
    expect(told).toMatchObject({ reason: 'SpecRefused' });
    expect(plan.refusals.length).toBeGreaterThan(0);
    expect(plan.restarts).toEqual([]);
    const garbage = preview({ engine: 7, sentinel: 'x' } as unknown as Partial<RedisClusterSpec>);
    expect(garbage.told?.phase === 'Failed' || (garbage.plan?.refusals.length ?? 0) > 0).toBe(true);
  });

  it('names the change by a hash that holds from before it is applied until it is done', () => {
    const spec = settled().resource.spec;
    const { plan } = preview({ size: 4 });
    expect(plan.hash).toBe(planHash({ ...spec, size: 4 }));
    expect(plan.hash).toBe(planHash({ updateStrategy: { type: 'OnApproval' }, ...spec, size: 4 }));
    expect(plan.hash).not.toBe(planHash(spec));
  });
});

/** As an observer sees a running data set: directives, users, keys of Secrets, limits of pods. */
const observed = (spec: Partial<RedisClusterSpec>): RedisClusterSnapshot => {
  const picture = drawn(spec);
  const resolved = resolveSpec(picture.resource.spec);
  const limit = memoryLimitBytes(resolved.resources);
  const config = {
    ...redisDirectives(resolved),
    maxmemory: String(limit === undefined ? 0 : largestMaxmemoryBytes({}, limit)),
    appendonly: 'no',
  };
  const usersOf = (component: 'redis' | 'sentinel') =>
    Object.fromEntries(
      Object.keys(wantedUsers(resolved, component)).map((user) => [
        user,
        { acceptsCurrent: true, acceptsPrevious: false, acceptsOthers: false, rulesAsWanted: true },
      ]),
    );
  return {
    ...picture,
    children: picture.children.map((child) =>
      child.kind === 'Secret' && child.metadata.name.endsWith('-credentials')
        ? { ...child, keys: [...CREDENTIAL_USERS], metadata: { ...child.metadata, resourceVersion: '7' } }
        : child,
    ),
    pods: picture.pods.map((pod) =>
      pod.component === 'redis' && limit !== undefined ? { ...pod, memoryLimitBytes: limit } : pod,
    ),
    redis: Object.fromEntries(
      Object.entries(picture.redis).map(([name, facts]) => [
        name,
        facts.reachable ? { ...facts, ...used, config, users: usersOf('redis'), peerLoginCurrent: true } : facts,
      ]),
    ),
    sentinels: Object.fromEntries(
      Object.entries(picture.sentinels).map(([name, facts]) => [
        name,
        facts.reachable ? { ...facts, users: usersOf('sentinel'), peerLoginCurrent: true } : facts,
      ]),
    ),
  };
};

const limited = (memory: string): Partial<RedisClusterSpec> => ({
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory } },
});

describe('RedisOperation Plan of a data set as it is observed', () => {
  const pair = { mode: 'Replication', size: 2, updateStrategy: { type: 'OnApproval' }, ...limited('192Mi') } as const;

  it('is settled to begin with', () => {
    const made = planRedisCluster({ snapshot: observed(pair), nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
    expect(made.actions).toEqual([]);
    expect(made.status.phase).toBe('Ready');
  });

  it('of two pods and another memory limit: the replica, the hand-over, the old primary', () => {
    const { plan } = preview(limited('224Mi'), observed(pair));
    expect(plan.restarts).toEqual([P1, P0]);
    const order = plan.actions.map(({ kind }) => kind).filter((kind) => kind === 'EvictPod' || kind === 'SwitchOver');
    expect(order).toEqual(['EvictPod', 'SwitchOver', 'EvictPod']);
    // Lowered for the time of the rollout, and raised again.
    const raised = plan.actions.filter(({ kind }) => kind === 'SetConfig');
    expect(raised.length).toBeGreaterThanOrEqual(2);
    expect(plan.actions.at(-1)?.kind).not.toBe('EvictPod');
  });

  it('of a user that is added besides: passwords and logins do not hold the rollout up', () => {
    const auth = { users: [{ name: 'reporting', rules: '~* +@read' }] };
    const { plan } = preview({ auth, ...limited('224Mi') }, observed({ ...limited('192Mi') }));
    const kinds = new Set(plan.actions.map(({ kind }) => kind));
    expect([...kinds]).toEqual(expect.arrayContaining(['WriteCredentials', 'SetUsers', 'SwitchOver']));
    expect(plan.restarts).toEqual([P2, P1, P0]);
  });
});

describe('a preview that cannot see what an action does', () => {
  it('takes it as done when it is planned twice, and asks what comes after it', () => {
    const told = { reason: 'Test', message: 'A test.', disruptive: false };
    const unseen: Action = { kind: 'SetAside', pod: P0, expectRunId: 'r', file: 'f', ...told };
    const evict: Action = { kind: 'EvictPod', pod: P1, podUid: `uid-${P1}`, ...told };
    const snapshot = settled();
    const { status } = planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
    const plan = previewChange({
      snapshot,
      spec: snapshot.resource.spec,
      refuse: () => [],
      replan: ({ pods }, isDone) => {
        const isRestarted = pods.some(({ name, uid }) => name === P1 && uid !== `uid-${P1}`);
        const next = isRestarted ? [] : [evict];
        return { actions: isDone(unseen) ? next : [unseen], trail: [], status };
      },
    });
    expect(plan.actions.map(({ kind }) => kind)).toEqual(['SetAside', 'EvictPod']);
    expect(plan.restarts).toEqual([P1]);
  });
});
