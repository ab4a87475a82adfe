import { LABEL, REDIS_PORT, SENTINEL_PORT, type KubeObject, type Mesh } from '#domain';
import { childAnnotations, childLabels, selectorLabels } from './labels.ts';
import type { Component } from './names.ts';
import type { RenderContext } from './render-child.ts';

const REDIS = { name: 'redis', port: REDIS_PORT, targetPort: REDIS_PORT, protocol: 'TCP' };
const SENTINEL = { name: 'sentinel', port: SENTINEL_PORT, targetPort: SENTINEL_PORT, protocol: 'TCP' };

/** A mesh reads the protocol from here instead of guessing it from the first bytes, which a silent server never sends. */
const inMesh = (mesh: Mesh, port: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  mesh === 'None' ? port : { ...port, appProtocol: 'tcp' };

const renderService = (
  context: RenderContext,
  name: string,
  component: Component | 'all',
  spec: Readonly<Record<string, unknown>>,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name,
    namespace: context.owner.namespace,
    labels: childLabels(context.owner, component),
    annotations: childAnnotations(context.owner),
  },
  spec,
});

/**
 * The role Services select by the role label, which the agent moves only after it has confirmed a primary. The headless
 * one publishes addresses before readiness: the entrypoints and Sentinels must find each other while nobody is ready,
 * or a full restart never ends.
 */
export const renderServices = (context: RenderContext): readonly KubeObject[] => {
  const { names, owner, spec } = context;
  const [redis, sentinel] = [inMesh(spec.mesh, REDIS), inMesh(spec.mesh, SENTINEL)];
  const data = selectorLabels(owner.dataSetHash, 'redis');
  const services = [
    renderService(context, names.podsService, 'all', {
      type: 'ClusterIP',
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { [LABEL.dataSet]: owner.dataSetHash },
      ports: [redis, sentinel],
    }),
    renderService(context, names.primaryService, 'redis', {
      type: 'ClusterIP',
      selector: { ...data, [LABEL.role]: 'primary' },
      ports: [redis],
    }),
  ];
  if (spec.mode !== 'Standalone') {
    services.push(
      renderService(context, names.replicasService, 'redis', {
        type: 'ClusterIP',
        selector: { ...data, [LABEL.role]: 'replica' },
        ports: [redis],
      }),
    );
  }
  if (spec.mode === 'Sentinel') {
    services.push(
      renderService(context, names.sentinelService, 'sentinel', {
        type: 'ClusterIP',
        selector: selectorLabels(owner.dataSetHash, 'sentinel'),
        ports: [sentinel],
      }),
    );
  }
  return services;
};
