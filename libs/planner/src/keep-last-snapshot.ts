/**
 * deletionPolicy Snapshot: before anything goes, a last RDB is written on the volume of the pod that holds most, and that
 * volume's claim is labelled; then all else goes. The label is the memory: as long as no claim bears it, a snapshot is
 * made (again), and nothing is deleted. Pods that sleep have written everything to their volumes already.
 */
import { LABEL } from '#domain';
import type { Action, KubeObject } from '#domain';
import { volumeClaimName } from '#manifests';
import { chooseSuccessor } from './choose-successor.ts';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView } from './cluster-view.ts';
import { findChild } from './find-child.ts';
import { askPerson, waitFor } from './rule.ts';
import type { RuleOutcome } from './rule.ts';

export const isKeptClaim = ({ kind, metadata }: KubeObject): boolean =>
  kind === 'PersistentVolumeClaim' && metadata.labels?.[LABEL.kept] !== undefined;

/** Kept in this deletion: the label names the object, so the claim of an earlier life of the data set has no part in it. */
export const isKeptAside = ({ snapshot }: ClusterView): boolean =>
  snapshot.children.some(
    (child) => isKeptClaim(child) && child.metadata.labels?.[LABEL.kept] === snapshot.resource.metadata.uid,
  );

/** undefined when there is nothing to keep: no pod ever ran, or there is no volume. */
export const keepLastSnapshot = (view: ClusterView, primary: AnsweringPod | undefined): RuleOutcome | undefined => {
  const claims = view.snapshot.children.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  if (claims.length === 0 || view.record === undefined) return undefined;
  if (view.dataPods.length === 0) return keepAsItLies(view);
  const pod = primary ?? furthest(view);
  if (pod === undefined || pod.facts.loading) return explainNobody(view);
  const claim = findChild(view.snapshot, 'PersistentVolumeClaim', volumeClaimName(pod.name));
  if (claim === undefined) return explainNobody(view);
  const reason = 'KeepingLastSnapshot';
  const file = `final-${Math.floor(view.nowMs / 1000)}.rdb`;
  const message = `${pod.name} writes ${file} on its volume ${claim.metadata.name}, which alone is kept.`;
  const setAside: Action = {
    kind: 'SetAside',
    pod: pod.name,
    expectRunId: pod.facts.runId,
    file,
    reason,
    message,
    disruptive: false,
  };
  return { ...waitFor(reason, message), halt: true, actions: [setAside, keep(view, claim, file)] };
};

/** Asleep, or scaled to nothing by hand: the recorded primary's volume holds everything as the server left it. */
const keepAsItLies = (view: ClusterView): RuleOutcome => {
  const claim = findChild(view.snapshot, 'PersistentVolumeClaim', volumeClaimName(view.record?.primaryPod ?? ''));
  if (claim === undefined) return explainNobody(view);
  const reason = 'KeepingLastSnapshot';
  const message = `${claim.metadata.name} holds what the primary wrote when it was stopped, and is kept.`;
  return { ...waitFor(reason, message), halt: true, actions: [keep(view, claim, 'appendonlydir')] };
};

/** Without a primary a pod that does not answer may hold more than all others, and its volume would go. */
const furthest = (view: ClusterView): AnsweringPod | undefined => {
  const pods = view.dataPods.filter(answers);
  const isComplete = pods.length === view.dataPods.length && pods.length >= view.spec.size;
  if (!isComplete && view.spec.failover.dataLossPolicy !== 'Allow') return undefined;
  const successor = chooseSuccessor(view, pods);
  return successor.kind === 'chosen' ? successor.pod : undefined;
};

const explainNobody = (view: ClusterView): RuleOutcome => {
  const message =
    `No data pod of ${view.key.name} can write the last snapshot now; nothing is deleted before one did. ` +
    'Wait until a primary, or every data pod, answers, or set spec.deletionPolicy to RetainVolumes, which keeps every volume.';
  return askPerson('SnapshotNotPossible', message);
};

const keep = (view: ClusterView, { metadata }: KubeObject, file: string): Action => ({
  kind: 'KeepVolume',
  key: { namespace: view.key.namespace, name: metadata.name },
  uid: metadata.uid ?? '',
  file,
  reason: 'KeepingLastSnapshot',
  message: `Claim ${metadata.name} is labelled as the one that is kept.`,
  disruptive: false,
});
