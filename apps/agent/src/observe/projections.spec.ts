import { describe, expect, it } from 'vitest';
import { ANNOTATION, LABEL } from '#domain';
import type { KubeObject, RedisClusterObject } from '#domain';
import { projectChild } from './project-child.ts';
import { projectNode } from './project-node.ts';
import { projectPod } from './project-pod.ts';
import { deservesPass, projectRedisCluster } from './project-redis-cluster.ts';

const podObject = (fields: Record<string, unknown>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'cache-abc-12',
    namespace: 'shop',
    uid: 'u1',
    labels: { [LABEL.component]: 'redis', 'controller-revision-hash': 'rev7' },
    annotations: { 'cni.example/ips': '["10.0.0.1"]', [ANNOTATION.renderVersion]: '1' },
  },
  ...fields,
});

describe('projectPod', () => {
  it('reads what the planner asks of a running pod', () => {
    const pod = projectPod(
      podObject({
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'redis', image: 'redis:8.0', resources: { limits: { memory: '1Gi' } } }],
        },
        status: {
          phase: 'Running',
          podIP: '10.0.0.1',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [{ name: 'redis', restartCount: 2, state: {} }],
        },
      }),
    );
    expect(pod).toEqual({
      namespace: 'shop',
      name: 'cache-abc-12',
      uid: 'u1',
      ordinal: 12,
      component: 'redis',
      ip: '10.0.0.1',
      node: 'n1',
      phase: 'Running',
      ready: true,
      terminating: false,
      nodeLost: false,
      labels: { [LABEL.component]: 'redis', 'controller-revision-hash': 'rev7' },
      annotations: { [ANNOTATION.renderVersion]: '1' },
      restarts: 2,
      image: 'redis:8.0',
      memoryLimitBytes: 1_073_741_824,
      controllerRevision: 'rev7',
    });
  });

  it('says why a container waits, or why no node takes the pod', () => {
    const pulling = podObject({
      status: {
        phase: 'Pending',
        containerStatuses: [
          { name: 'redis', state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } },
        ],
      },
    });
    expect(projectPod(pulling).waitingReason).toBe('ErrImagePull: no such image');
    for (const reason of ['ContainerCreating', 'PodInitializing']) {
      const starting = {
        ...pulling,
        status: { containerStatuses: [{ name: 'redis', state: { waiting: { reason } } }] },
      };
      expect(projectPod(starting).waitingReason).toBeUndefined();
    }
    const unscheduled = podObject({
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes' }],
      },
    });
    expect(projectPod(unscheduled).waitingReason).toBe('Unschedulable: 0/2 nodes');
  });

  it('keeps the last words of our entrypoint, and only while the pod is not ready', () => {
    const said = (message: string, ready = 'False', where = 'lastState') =>
      projectPod(
        podObject({
          status: {
            phase: 'Running',
            conditions: [{ type: 'Ready', status: ready }],
            containerStatuses: [{ name: 'redis', [where]: { terminated: { message } } }],
          },
        }),
      ).lastWords;
    expect(said('atoll-volume-full\n')).toBe('atoll-volume-full');
    expect(said('atoll-no-room free=1', 'False', 'state')).toBe('atoll-no-room free=1');
    expect(said('atoll-volume-full\n', 'True')).toBeUndefined();
    expect(said('panic: out of memory')).toBeUndefined();
  });

  it.each([
    ['it waits for room since its first container ended', '2026-11-30T10:00:00Z', 'atoll-no-room free=1'],
    ['both in the same second', '2026-11-30T10:00:09Z', 'atoll-no-room free=1'],
    ['it was Ready since, and is so no longer', '2026-11-30T10:00:30Z', undefined],
  ])(
    'of a container that runs, only what was said since the pod was last Ready: %s',
    (_, lastTransitionTime, words) => {
      const seen = (state: object, status = 'False') =>
        projectPod(
          podObject({
            status: {
              phase: 'Running',
              conditions: [{ type: 'Ready', status, lastTransitionTime }],
              containerStatuses: [
                {
                  name: 'redis',
                  state,
                  lastState: { terminated: { message: 'atoll-no-room free=1\n', finishedAt: '2026-11-30T10:00:09Z' } },
                },
              ],
            },
          }),
        ).lastWords;
      expect(seen({ running: { startedAt: '2026-11-30T10:00:10Z' } })).toBe(words);
      expect(seen({ running: {} }, 'Unknown')).toBe(words);
      expect(seen({ waiting: { reason: 'CrashLoopBackOff' } })).toBe('atoll-no-room free=1');
    },
  );

  it('has no address before Kubernetes gives one, and knows a lost node', () => {
    expect(projectPod(podObject({ status: { phase: 'Pending', podIP: '' } }))).not.toHaveProperty('ip');
    expect(projectPod(podObject({ status: { phase: 'Running', reason: 'NodeLost' } })).nodeLost).toBe(true);
  });
});

describe('projectNode', () => {
  it('counts a node as ready only when its kubelet says so now', () => {
    const node = (status: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { conditions: [{ type: 'Ready', status }] },
    });
    expect(projectNode(node('True')).ready).toBe(true);
    expect(projectNode(node('Unknown')).ready).toBe(false);
    expect(projectNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }).ready).toBe(false);
  });
});

describe('projectChild', () => {
  it('drops managed fields, version, and a status that nobody reads', () => {
    const service: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', resourceVersion: '9', managedFields: [{ manager: 'x' }], labels: { a: 'b' } },
      spec: { ports: [] },
      status: { loadBalancer: {} },
    };
    expect(projectChild(service)).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', labels: { a: 'b' } },
      spec: { ports: [] },
    });
    expect(projectChild({ ...service, kind: 'StatefulSet' })).toHaveProperty('status');
  });

  it('keeps every text of a ConfigMap as it is, short and long, also of more than can be shared', () => {
    const texts = (count: number) => Array.from({ length: count }, (_, index) => `${index}-${'x'.repeat(2_000)}`);
    const configMap = (long: string): KubeObject => {
      const data = { settings: 'MODE=Sentinel', 'start-redis.sh': long };
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data };
    };
    for (const long of [...texts(200), ...texts(3)]) expect(projectChild(configMap(long))).toEqual(configMap(long));
    const empty: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
    expect(projectChild(empty)).toEqual(empty);
  });
});

const resource = (metadata: Partial<KubeObject['metadata']>, status?: RedisClusterObject['status']): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'cache', namespace: 'shop', uid: 'u1', generation: 1, ...metadata },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
  ...(status === undefined ? {} : { status }),
});

describe('deservesPass', () => {
  const before = projectRedisCluster(resource({ resourceVersion: '1' }));
  const after = (object: KubeObject): boolean => deservesPass(projectRedisCluster(object), before);

  it('ignores a change of status alone', () => {
    expect(after(resource({ resourceVersion: '2' }, { phase: 'Ready' }))).toBe(false);
  });

  it.each([
    ['a new object', resource({ uid: 'u2' })],
    ['an edit of the spec', resource({ generation: 2 })],
    ['a deletion', resource({ deletionTimestamp: '2026-11-30T05:00:00Z' })],
    ['a finalizer that was taken away', resource({ finalizers: [] })],
    ['a new annotation', resource({ annotations: { [ANNOTATION.hubGeneration]: '2' } })],
  ])('takes %s', (_, object) => {
    expect(after(object)).toBe(true);
  });

  it('keeps who owns fields of the spec and drops who owns the status', () => {
    const managedFields = [
      { manager: 'atoll-hub', fieldsV1: { 'f:spec': { 'f:size': {} }, 'f:metadata': { 'f:labels': {} } } },
      { manager: 'kubectl', fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${'x'.repeat(50_000)}`]: {} } } } },
      { manager: 'atoll-agent', subresource: 'status' },
    ];
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      theirs: 'x'.repeat(200_000),
      'redis.atoll.dev/hub-uid': 'u1',
    };
    const kept = projectRedisCluster(resource({ managedFields, annotations })).metadata;
    expect(kept.managedFields).toEqual([
      { manager: 'atoll-hub', fieldsV1: { 'f:spec': { 'f:size': {} } } },
      { manager: 'kubectl', fieldsV1: {} },
    ]);
    expect(kept.annotations).toEqual({ 'redis.atoll.dev/hub-uid': 'u1' });
  });
});
