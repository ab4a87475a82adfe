import type { KubeObject } from '#domain';
import { childAnnotations, childLabels, selectorLabels } from './labels.ts';
import type { Component } from './names.ts';
import type { RenderContext } from './render-child.ts';

/**
 * One budget a shard and one for the Sentinels: a drain, like the agent, takes one pod of each at a time. A pod that is
 * not ready may always go: it serves nobody, and a rollout that repairs it would otherwise be held by its own defect.
 */
export const renderDisruptionBudget = (context: RenderContext, name: string, component: Component): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: {
    name,
    namespace: context.owner.namespace,
    labels: childLabels(context.owner, component),
    annotations: childAnnotations(context.owner),
  },
  spec: {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
    selector: { matchLabels: selectorLabels(context.owner.dataSetHash, component) },
  },
});
