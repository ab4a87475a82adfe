/**
 * Every object of the data set is as it is rendered, and only what differs is applied: a settled world plans nothing.
 * What is being deleted is waited for, not applied over. StatefulSets are OnDelete, so applying a new template restarts
 * no pod.
 */
import { diffObject, renderChildren } from '#manifests';
import type { Action, KubeObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import type { Rule } from '../rule.ts';

export const applyChildren: Rule = {
  name: 'apply-children',
  decide: ({ view }) => {
    if (!view.specUsable) return undefined;
    const { key, dataSetId, spec, renderVersion } = view;
    const desired = renderChildren({
      ...key,
      dataSetId,
      spec,
      renderVersion,
      recordedPrimary: view.record?.primaryPod,
      returning: view.record?.returning,
    });
    const actions = desired.flatMap((object) => applyIfDifferent(view, object) ?? []);
    const [first] = actions;
    return first === undefined ? undefined : { reason: first.reason, message: first.message, actions };
  },
};

const applyIfDifferent = ({ snapshot }: ClusterView, object: KubeObject): Action | undefined => {
  const what = `${object.kind} ${object.metadata.name}`;
  const live = findChild(snapshot, object.kind, object.metadata.name);
  if (live === undefined) {
    return { kind: 'ApplyChild', object, reason: 'ChildMissing', message: `Making ${what}.`, disruptive: false };
  }
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const path = diffObject(object, live);
  if (path === undefined) return undefined;
  return {
    kind: 'ApplyChild',
    object,
    reason: 'ChildDiffers',
    message: `Correcting ${path} of ${what}.`,
    disruptive: removesPods(object, live),
  };
};

/** Fewer pods are asked for than there are. */
const removesPods = (object: KubeObject, live: KubeObject): boolean => {
  const replicasOf = (set: KubeObject): number => (set['spec'] as { replicas?: number } | undefined)?.replicas ?? 0;
  return object.kind === 'StatefulSet' && replicasOf(object) < replicasOf(live);
};
