import { ANNOTATION, LABEL } from '#domain';
import type { Component } from './names.ts';

/** What every label and annotation of a child is made of. */
export interface ChildOwner {
  /** Name of the RedisCluster. */
  readonly name: string;
  readonly namespace: string;
  readonly dataSetHash: string;
  readonly renderVersion: number;
}

/** Labels of every child of the data set. */
export const childLabels = (owner: ChildOwner, component: Component | 'all'): Record<string, string> => ({
  [LABEL.name]: 'redis',
  [LABEL.instance]: owner.name,
  [LABEL.component]: component,
  [LABEL.managedBy]: 'atoll',
  [LABEL.partOf]: 'atoll',
  [LABEL.dataSet]: owner.dataSetHash,
});

/** What selects the pods of one component. It can never change: a StatefulSet's selector is immutable. */
export const selectorLabels = (dataSetHash: string, component: Component): Record<string, string> => ({
  [LABEL.component]: component,
  [LABEL.dataSet]: dataSetHash,
});

export const childAnnotations = (owner: ChildOwner): Record<string, string> => ({
  [ANNOTATION.ownedBy]: owner.name,
  [ANNOTATION.renderVersion]: String(owner.renderVersion),
});

/** Of the pod template. From version 2 on a pod tells which version it was made by; in version 1 that would restart it. */
export const podAnnotations = (owner: ChildOwner): Record<string, string> =>
  owner.renderVersion === 1 ? { [ANNOTATION.ownedBy]: owner.name } : childAnnotations(owner);
