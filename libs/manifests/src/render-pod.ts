/**
 * What the pods of both StatefulSets share. Invariant: they pass Pod Security "restricted", hold no token of the API
 * server, and carry no password in arguments or environment: credentials are files of a projected Secret.
 */
import type { V1Container, V1EnvVar, V1PodSpec, V1SecurityContext, V1Volume } from '@kubernetes/client-node';
import { selectorLabels } from './labels.ts';
import type { Component } from './names.ts';
import type { RenderContext } from './render-child.ts';
import { renderScheduling } from './render-scheduling.ts';

/** The numeric user of the official images; any number but 0 works, as nothing looks it up. */
const USER = 999;
/** A hand-over has up to 10 s (scripts/stop-redis-script.ts); at SIGTERM Redis waits up to 10 s for lagging replicas, then writes its files. */
const TERMINATION_GRACE_S = 60;

export const FOLDER = {
  scripts: '/etc/atoll/scripts',
  config: '/etc/atoll/config',
  credentials: '/etc/atoll/credentials',
  state: '/run/atoll',
  data: '/data',
} as const;

const CONTAINER_SECURITY: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const podFields: V1EnvVar[] = [
  { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
  { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
];

/** A container that runs one of our entrypoint scripts; `own` adds ports, probes and further mounts. */
export const renderContainer = (
  name: string,
  image: string,
  script: string,
  own: Pick<
    V1Container,
    'env' | 'ports' | 'resources' | 'startupProbe' | 'livenessProbe' | 'readinessProbe' | 'lifecycle' | 'volumeMounts'
  >,
): V1Container => ({
  ...own,
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['/bin/sh', `${FOLDER.scripts}/${script}`],
  env: [...podFields, ...(own.env ?? [])],
  securityContext: CONTAINER_SECURITY,
  volumeMounts: [
    { name: 'scripts', mountPath: FOLDER.scripts, readOnly: true },
    { name: 'config', mountPath: FOLDER.config, readOnly: true },
    { name: 'credentials', mountPath: FOLDER.credentials, readOnly: true },
    { name: 'state', mountPath: FOLDER.state },
    ...(own.volumeMounts ?? []),
  ],
});

/** The pod around the container. `volumes` come after the shared ones; `state` is the writable /run/atoll. */
export const renderPodSpec = (
  { owner, names, spec: { scheduling } }: RenderContext,
  component: Component,
  container: V1Container,
  volumes: { readonly state: V1Volume; readonly more: readonly V1Volume[] },
): V1PodSpec => ({
  serviceAccountName: names.serviceAccount,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: TERMINATION_GRACE_S,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  },
  ...renderScheduling(
    scheduling,
    selectorLabels(owner.dataSetHash, component),
    component === 'sentinel' && owner.renderVersion > 1 ? selectorLabels(owner.dataSetHash, 'redis') : undefined,
  ),
  containers: [container],
  volumes: [
    { name: 'scripts', configMap: { name: names.scripts, defaultMode: 0o444 } },
    { name: 'config', configMap: { name: names.config, defaultMode: 0o444 } },
    {
      name: 'credentials',
      projected: { defaultMode: 0o440, sources: [{ secret: { name: names.credentialsSecret } }] },
    },
    volumes.state,
    ...volumes.more,
  ],
});
