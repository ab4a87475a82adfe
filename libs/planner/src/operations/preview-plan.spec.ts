import { describe, expect, it } from 'vitest';
import type { PlanPreview, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { planHash } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, sentinelFacts, withFacts } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const HOST = podIp(0);
const used = { usedMemoryBytes: 100_000_000 };

/** As the StatefulSet controller leaves it: every pod of the newest revision. */
const drawn = (): RedisClusterSnapshot => {
  const picture = drawSettled();
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
