/**
 * Masters that were deposed and do not know it: they go on under the replication id that their successor was promoted out
 * of, while one that holds the later state answers but is no primary at the moment (it restarted and waits, or its own
 * replica is all that is left of it). Known from the histories, or from the record once that successor was seen as
 * primary. Invariant: a master is called deposed only beside a pod with data that is provably later; without this the
 * later state would be erased by the earlier one, or a person asked who cannot tell them apart.
 */
import type { DataSetRecord } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView } from './cluster-view.ts';
import { followsAddressOf, isMaster, isUnlinked } from './replication-role.ts';
import { isPromotedFrom } from './lineage.ts';

export const findDeposed = (view: ClusterView): readonly AnsweringPod[] =>
  view.dataPods
    .filter(isMaster)
    .filter((master) => view.dataPods.filter(answers).some((pod) => isLaterThan(view, pod, master)));

/** A deposed master, or linked to one: what it holds is no candidate. */
export const isOfDeposed = (pod: AnsweringPod, deposed: readonly AnsweringPod[]): boolean =>
  deposed.some((master) => master.name === pod.name || followsAddressOf(pod, master));

const isLaterThan = ({ record }: ClusterView, pod: AnsweringPod, master: AnsweringPod): boolean => {
  if (pod.name === master.name || pod.facts.keys === 0 || pod.facts.loading || !isUnlinked(pod)) return false;
  return isPromotedFrom(pod.facts, master.facts) || (record !== undefined && isLaterByRecord(record, pod, master));
};

const isLaterByRecord = ({ histories = [], primaryPod }: DataSetRecord, pod: AnsweringPod, master: AnsweringPod) => {
  const age = histories.indexOf(master.facts.replicationId);
  if (age === -1 || age === histories.length - 1) return false;
  const { replicationId, secondReplicationId } = pod.facts;
  if (Math.max(histories.indexOf(replicationId), histories.indexOf(secondReplicationId)) > age) return true;
  // It has left that history: a record raised for a promotion that never came is no proof.
  return pod.name === primaryPod && replicationId !== master.facts.replicationId;
};
