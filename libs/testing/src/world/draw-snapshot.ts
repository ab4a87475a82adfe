/**
 * A picture of a data set that is exactly as it should be, and small ways to spoil it. Everything a test does not spoil
 * is right, so that what the planner says is about the spoiled part alone.
 */
import { FINALIZER, LABEL, dataSetIdOf } from '#domain';
import type {
  DataSetRecord,
  KubeObject,
  PodSnapshot,
  RedisClusterObject,
  RedisClusterSnapshot,
  RedisClusterSpec,
  RedisNodeFacts,
  SentinelFacts,
} from '#domain';
import {
  CURRENT_RENDER_VERSION,
  describeOwner,
  nameObjects,
  podName,
  renderChildren,
  renderRecord,
  resolveSpec,
  volumeClaimName,
} from '#manifests';
import { masterFacts, replicaFacts, sentinelFacts } from './make-facts.ts';

export const NOW_MS = 1_000_000;

export const drawResource = (
  spec: Partial<RedisClusterSpec> = {},
  change: Partial<RedisClusterObject['metadata']> = {},
): RedisClusterObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    name: 'orders',
    namespace: 'shop',
    uid: 'uid-orders',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [FINALIZER],
    ...change,
  },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', ...spec },
});

export const podIp = (ordinal: number, component: 'redis' | 'sentinel' = 'redis'): string =>
  `10.0.${component === 'redis' ? 0 : 1}.${ordinal + 1}`;

/** The settled picture: pod 0 is primary, the others follow it, the Sentinels agree, every object is as rendered. */
export const drawSettled = (spec: Partial<RedisClusterSpec> = {}): RedisClusterSnapshot => {
  const resource = drawResource(spec);
  const resolved = resolveSpec(resource.spec);
  const dataSetId = dataSetIdOf(resource);
  const names = nameObjects('orders', dataSetId);
  const record: DataSetRecord = {
    dataSetId,
    primaryTerm: 1,
    primaryPod: podName(names.redis, 0),
    primaryVersion: '8.0.2',
    primaryEngine: 'Redis',
    primaryNode: 'node-0',
    primaryHost: podIp(0),
    renderVersion: CURRENT_RENDER_VERSION,
  };
  const data = ordinals(resolved.size).map((ordinal) => drawPod(resource, 'redis', ordinal));
  const sentinels = ordinals(resolved.mode === 'Sentinel' ? resolved.sentinel.replicas : 0).map((ordinal) =>
    drawPod(resource, 'sentinel', ordinal),
  );
  const [first, ...rest] = data;
  return {
    observedAtMs: NOW_MS,
    resource,
    crdTerminating: false,
    ownsNamespace: true,
    scopeOwner: 'CLUSTER',
    children: drawChildren(resource, record),
    record,
    pods: [...data, ...sentinels],
    redis: {
      ...(first === undefined ? {} : { [first.name]: masterFacts(first.name, { connectedReplicas: rest.length }) }),
      ...Object.fromEntries(rest.map((pod) => [pod.name, replicaFacts(pod.name, podIp(0))])),
    },
    sentinels: Object.fromEntries(
      sentinels.map((pod) => [
        pod.name,
        sentinelFacts(podIp(0), { knownReplicas: rest.length, replicaHosts: rest.map((replica) => replica.ip ?? '') }),
      ]),
    ),
    nodes: ordinals(3).map((ordinal) => ({ name: `node-${ordinal}`, ready: true })),
    credentialsPresent: true,
  };
};

const ordinals = (count: number): readonly number[] => Array.from({ length: count }, (_, ordinal) => ordinal);

export const drawPod = (
  resource: RedisClusterObject,
  component: 'redis' | 'sentinel',
  ordinal: number,
  change: Partial<PodSnapshot> = {},
): PodSnapshot => {
  const names = nameObjects(resource.metadata.name, dataSetIdOf(resource));
  const role = component === 'sentinel' ? {} : { [LABEL.role]: ordinal === 0 ? 'primary' : 'replica' };
  const name = podName(names[component], ordinal);
  return {
    name,
    ordinal,
    component,
    uid: `uid-${name}`,
    ip: podIp(ordinal, component),
    node: `node-${ordinal % 3}`,
    phase: 'Running',
    ready: true,
    terminating: false,
    labels: { [LABEL.dataSet]: names.hash, [LABEL.component]: component, ...role },
    annotations: {},
    restarts: 0,
    nodeReady: true,
    ...change,
  };
};

/** What the API server holds after everything was applied once: rendered objects, volumes, Secrets and the record. */
export const drawChildren = (
  resource: RedisClusterObject,
  record: DataSetRecord | undefined,
): readonly KubeObject[] => {
  const spec = resolveSpec(resource.spec);
  const key = { name: resource.metadata.name, namespace: resource.metadata.namespace ?? '' };
  const input = { ...key, dataSetId: dataSetIdOf(resource), spec, renderVersion: CURRENT_RENDER_VERSION };
  const owner = describeOwner(input);
  const names = nameObjects(key.name, input.dataSetId);
  const labels = { [LABEL.dataSet]: names.hash, [LABEL.instance]: key.name };
  const plain = (kind: string, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: key.namespace, labels, creationTimestamp: '2026-01-01T00:00:01Z' },
  });
  const claims =
    spec.storage.type === 'PersistentVolume'
      ? ordinals(spec.size).map((ordinal) =>
          plain('PersistentVolumeClaim', volumeClaimName(podName(names.redis, ordinal))),
        )
      : [];
  const objects = [
    ...renderChildren({ ...input, recordedPrimary: record?.primaryPod, returning: record?.returning }),
    plain('Secret', names.credentialsSecret),
    plain('Secret', names.connectionSecret),
    ...claims,
    ...(record === undefined ? [] : [renderRecord(owner, names.record, record)]),
  ];
  return objects.map((object) => ({
    ...object,
    metadata: { ...object.metadata, uid: `uid-${object.kind}-${object.metadata.name}` },
  }));
};

type Facts = { readonly redis?: readonly RedisNodeFacts[]; readonly sentinels?: readonly SentinelFacts[] };

/** Replaces the facts of the data pods and of the Sentinels, each in the order of their ordinals. */
export const withFacts = (snapshot: RedisClusterSnapshot, facts: Facts): RedisClusterSnapshot => {
  const assign = <T>(component: PodSnapshot['component'], list: readonly T[]): Record<string, T> =>
    Object.fromEntries(
      snapshot.pods
        .filter((pod) => pod.component === component)
        .flatMap((pod, index) => {
          const value = list[index];
          return value === undefined ? [] : [[pod.name, value]];
        }),
    );
  return {
    ...snapshot,
    redis: { ...snapshot.redis, ...assign('redis', facts.redis ?? []) },
    sentinels: { ...snapshot.sentinels, ...assign('sentinel', facts.sentinels ?? []) },
  };
};

export const withPod = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: Partial<PodSnapshot> | undefined,
): RedisClusterSnapshot => ({
  ...snapshot,
  pods: snapshot.pods.flatMap((pod) => {
    if (pod.name !== name) return [pod];
    return change === undefined ? [] : [{ ...pod, ...change }];
  }),
});

export const withResource = (
  snapshot: RedisClusterSnapshot,
  change: {
    readonly spec?: Partial<RedisClusterSpec>;
    readonly metadata?: Partial<RedisClusterObject['metadata']>;
    readonly status?: RedisClusterObject['status'];
  },
): RedisClusterSnapshot => {
  const { resource } = snapshot;
  const status = change.status ?? resource.status;
  return {
    ...snapshot,
    resource: {
      ...resource,
      metadata: { ...resource.metadata, ...change.metadata },
      spec: { ...resource.spec, ...change.spec },
      ...(status === undefined ? {} : { status }),
    },
  };
};

/** Without the record, in the picture and among the children. */
export const withoutRecord = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => {
  const { record: _, ...rest } = snapshot;
  return { ...rest, children: rest.children.filter((child) => !child.metadata.name.endsWith('-record')) };
};
