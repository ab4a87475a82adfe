import type { V1Lifecycle, V1PersistentVolumeClaim, V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { ANNOTATION, REDIS_PORT, SENTINEL_PORT, type KubeObject } from '#domain';
import { childAnnotations, childLabels, podAnnotations, selectorLabels } from './labels.ts';
import { meshAnnotations } from './mesh-annotations.ts';
import { VOLUME_CLAIM_PREFIX, type Component } from './names.ts';
import type { RenderContext } from './render-child.ts';
import { FOLDER, renderContainer, renderPodSpec } from './render-pod.ts';
import { maxmemoryFromLimit, restartHash } from './render-redis-config.ts';

/** How long the entrypoint may look for a primary and the server may take to open its port. */
const STARTUP_BUDGET_S = 120;

/**
 * OnDelete: the agent alone decides which pod restarts and when, in the order of live roles. Parallel: after a full
 * outage all pods must start at once. Retain: volumes outlive pods, scaling and deletion; deletionPolicy decides.
 */
const renderStatefulSet = (
  context: RenderContext,
  name: string,
  component: Component,
  parts: {
    readonly replicas: number;
    readonly pod: V1PodSpec;
    readonly podAnnotations: Record<string, string>;
    readonly claims: readonly V1PersistentVolumeClaim[];
  },
): KubeObject => {
  const { owner, names } = context;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: owner.namespace,
      labels: childLabels(owner, component),
      annotations: childAnnotations(owner),
    },
    spec: {
      replicas: parts.replicas,
      serviceName: names.podsService,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      selector: { matchLabels: selectorLabels(owner.dataSetHash, component) },
      template: {
        metadata: { labels: childLabels(owner, component), annotations: parts.podAnnotations },
        spec: parts.pod,
      },
      ...(parts.claims.length > 0 ? { volumeClaimTemplates: parts.claims } : {}),
    },
  };
};

/** From render version 2 on a data pod waits at its end for its primary to be handed over (scripts/stop-redis-script.ts). */
export const holdsAtEnd = (renderVersion: number): boolean => renderVersion > 1;

const HAND_OVER_FIRST: V1Lifecycle = { preStop: { exec: { command: ['/bin/sh', `${FOLDER.scripts}/stop-redis.sh`] } } };

/** The data pods. A process is alive while it answers at all; it is ready as primary or as a linked replica. */
export const renderRedisStatefulSet = (context: RenderContext): KubeObject => {
  const { names, owner, spec } = context;
  const probe = (kind: string) => ({ exec: { command: ['/bin/sh', `${FOLDER.scripts}/probe-redis.sh`, kind] } });
  const container = renderContainer('redis', spec.engine.image, 'start-redis.sh', {
    env: [{ name: 'MAXMEMORY', value: maxmemoryFromLimit(spec) ?? '0' }],
    ports: [{ name: 'redis', containerPort: REDIS_PORT, protocol: 'TCP' }],
    resources: spec.resources,
    startupProbe: { tcpSocket: { port: REDIS_PORT }, periodSeconds: 1, failureThreshold: STARTUP_BUDGET_S },
    livenessProbe: { ...probe('liveness'), periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...probe('readiness'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
    ...(holdsAtEnd(owner.renderVersion) ? { lifecycle: HAND_OVER_FIRST } : {}),
    volumeMounts: [{ name: VOLUME_CLAIM_PREFIX, mountPath: FOLDER.data }],
  });
  const persistent = spec.storage.type === 'PersistentVolume';
  // In memory: it holds the replication password in clear, and nothing of it is needed after the pod.
  const state: V1Volume = { name: 'state', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } };
  const more: V1Volume[] = persistent ? [] : [{ name: VOLUME_CLAIM_PREFIX, emptyDir: {} }];
  return renderStatefulSet(context, names.redis, 'redis', {
    replicas: spec.runningPods?.redis ?? spec.size,
    pod: renderPodSpec(context, 'redis', container, { state, more }),
    podAnnotations: {
      ...podAnnotations(owner),
      ...meshAnnotations(spec),
      [ANNOTATION.restartHash]: restartHash(spec, owner.renderVersion),
    },
    claims: persistent ? [renderClaim(context)] : [],
  });
};

const renderClaim = ({ owner, spec }: RenderContext): V1PersistentVolumeClaim => ({
  metadata: { name: VOLUME_CLAIM_PREFIX, labels: childLabels(owner, 'redis') },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: spec.storage.size ?? '' } },
    ...(spec.storage.storageClassName === undefined ? {} : { storageClassName: spec.storage.storageClassName }),
  },
});

/** The Sentinels. Their state lies on the node's disk, so that a vote survives a crash of the container or the node. */
export const renderSentinelStatefulSet = (context: RenderContext): KubeObject => {
  const { names, owner, spec } = context;
  const answers = { tcpSocket: { port: SENTINEL_PORT } };
  const container = renderContainer('sentinel', spec.engine.image, 'start-sentinel.sh', {
    ports: [{ name: 'sentinel', containerPort: SENTINEL_PORT, protocol: 'TCP' }],
    resources: spec.sentinel.resources,
    startupProbe: { ...answers, periodSeconds: 1, failureThreshold: STARTUP_BUDGET_S },
    livenessProbe: { ...answers, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...answers, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
  });
  return renderStatefulSet(context, names.sentinel, 'sentinel', {
    replicas: spec.runningPods?.sentinel ?? spec.sentinel.replicas,
    pod: renderPodSpec(context, 'sentinel', container, { state: { name: 'state', emptyDir: {} }, more: [] }),
    podAnnotations: { ...podAnnotations(owner), ...meshAnnotations(spec) },
    claims: [],
  });
};
