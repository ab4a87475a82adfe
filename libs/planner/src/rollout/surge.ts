/**
 * The second pod of a data set of one, for as long as a rollout needs it: where the only pod's data would not outlive it
 * (no persistence, or a disk that goes with the pod), a replica is added, takes over, the old pod is restarted, takes
 * over again, and the extra one goes. The record says that it is on; everything else follows from the shape that is then
 * wanted, with the same steps and gates as when a user raises and lowers the size.
 */
import type { Action, DataSetRecord, ResolvedSpec } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { writeRecord } from '../make-action.ts';

/** The spec that is wanted while the extra pod is there; a size that was raised meanwhile needs no extra pod. */
export const withSurge = (wanted: ResolvedSpec, record: DataSetRecord | undefined): ResolvedSpec => {
  if (record?.surge !== true || wanted.size !== 1) return wanted;
  return { ...wanted, size: 2, mode: wanted.mode === 'Standalone' ? 'Replication' : wanted.mode };
};

/** The only pod would take the data with it. */
export const losesDataAlone = ({ spec }: ClusterView): boolean =>
  !spec.persistenceEnabled || spec.storage.type !== 'PersistentVolume';

export const beginSurge = (view: ClusterView): Action =>
  writeRecord(
    view,
    { surge: true },
    'AddingSurgePod',
    'A second pod is added: the only one would take the data with it.',
  );

export const endSurge = (view: ClusterView): Action => {
  const { surge: _, ...record } = view.record ?? { dataSetId: view.dataSetId, primaryTerm: 0, renderVersion: 0 };
  const message = 'Every pod is as wanted; the second pod is removed.';
  return writeRecord({ ...view, record }, {}, 'RemovingSurgePod', message);
};
