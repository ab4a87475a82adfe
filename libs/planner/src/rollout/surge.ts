/**
 * The second pod of a data set of one, for as long as a rollout needs it: where the only pod's data would not outlive it
 * (no persistence, or a disk that goes with the pod), a replica is added, takes over, the old pod is restarted, takes
 * over again, and the extra one goes, with its volume if that was made for it. The record says where this is; everything else follows from the shape
 * that is then wanted, with the same steps and gates as when a user raises and lowers the size (shape/).
 */
import { LABEL } from '#domain';
import type { Action, DataSetRecord, KubeObject, ResolvedSpec } from '#domain';
import { podName, volumeClaimName } from '#manifests';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { writeRecord } from '../make-action.ts';
import type { Unrest } from './explain-unrest.ts';

/** The spec that is wanted while the extra pod is there; a size that was raised meanwhile needs no extra pod. */
export const withSurge = (wanted: ResolvedSpec, record: DataSetRecord | undefined): ResolvedSpec => {
  if (record?.surge !== 'Adding' || wanted.size !== 1) return wanted;
  return { ...wanted, size: 2, mode: wanted.mode === 'Standalone' ? 'Replication' : wanted.mode };
};

/** The only pod would take the data with it. */
export const losesDataAlone = ({ spec }: ClusterView): boolean =>
  !spec.persistenceEnabled || spec.storage.type !== 'PersistentVolume';

export const REMOVING_SURGE: Unrest = {
  reason: 'RemovingSurgePod',
  message: 'Every pod is as wanted; the second one is removed.',
};

export const beginSurge = (view: ClusterView): Action =>
  writeRecord(
    view,
    { surge: 'Adding', ...(findSurgeClaim(view) === undefined ? { surgeVolume: 'Made' } : {}) },
    'AddingSurgePod',
    'A second pod is added: the only one would take the data with it.',
  );

/**
 * The change was taken back, or the extra pod never started: the pod that stays is the primary and as wanted. Then nothing
 * is waited for, least of all the extra pod: it may be what cannot be scheduled.
 */
export const isSurgeNeedless = ({ record }: ClusterView, primary: AnsweringPod | undefined): boolean =>
  record?.surge === 'Adding' && primary?.ordinal === 0 && !primary.facts.loading;

/** The next step of taking the extra pod away, or what it waits for; undefined when there is none. */
export const endSurge = (view: ClusterView): Action | Unrest | undefined => {
  const { reason, message } = REMOVING_SURGE;
  if (view.record?.surge === undefined) return undefined;
  const isNeeded = view.wanted.size > 1 && view.record.surge === 'Removing';
  if (isNeeded) return forget(view);
  if (view.record.surge === 'Adding') return writeRecord(view, { surge: 'Removing' }, reason, message);
  if (view.spec.size > 1 || view.dataPods.length > 1 || view.shapeNotes.length > 0) return REMOVING_SURGE;
  return removeVolume(view) ?? forget(view);
};

const forget = (view: ClusterView): Action => {
  const {
    surge: _,
    surgeVolume: __,
    ...record
  } = view.record ?? { dataSetId: view.dataSetId, primaryTerm: 0, renderVersion: 0 };
  return writeRecord({ ...view, record }, {}, 'SurgePodRemoved', 'There is no second pod any more.');
};

const findSurgeClaim = (view: ClusterView): KubeObject | undefined =>
  findChild(view.snapshot, 'PersistentVolumeClaim', volumeClaimName(podName(view.names.redis, 1)));

/**
 * What lay on it was a copy, if it was made for this. One that was there before is left from an earlier size: it is kept
 * with what the pod set aside on it, and so is one of which the record does not say, or which lacks the label that the
 * StatefulSet gives: somebody made it by hand.
 */
const removeVolume = (view: ClusterView): Action | undefined => {
  const claim = view.record?.surgeVolume === 'Made' ? findSurgeClaim(view) : undefined;
  if (claim?.metadata.uid === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
  if (claim.metadata.labels?.[LABEL.dataSet] !== view.names.hash) return undefined;
  const { name, namespace = '', uid } = claim.metadata;
  return {
    kind: 'DeleteChild',
    apiVersion: 'v1',
    objectKind: 'PersistentVolumeClaim',
    key: { namespace, name },
    uid,
    reason: REMOVING_SURGE.reason,
    message: `Deleting volume claim ${name} of the second pod.`,
    disruptive: false,
  };
};
