/**
 * What a person is told of pods that came back to old volumes, where nobody can go on: that what they hold, or what was
 * set aside on them, may be the last copy, and where it lies. Invariant: nothing is started empty while such a pod has not
 * joined, whatever loss is accepted: what was lost is then not known to be everything.
 */
import type { ClusterView, DataPod } from './cluster-view.ts';
import { findOldStates, isReturning } from './find-returning.ts';
import { askPerson } from './rule.ts';
import type { RuleOutcome } from './rule.ts';

/** Which pods may hold an old state, and where; empty when there are none. */
export const listOldData = (view: ClusterView): string =>
  [listStates(view), listSetAside(view)].filter((part) => part !== '').join(' ');

const listStates = (view: ClusterView): string => {
  const list = findOldStates(view).map((pod) => `${pod.name} (${pod.facts.keys} keys)`);
  return list.length === 0
    ? ''
    : `Old data may be on ${list.join(', ')}, which came back to volumes of an earlier size.`;
};

const listSetAside = (view: ClusterView): string => {
  const list = view.dataPods.filter((pod) => isReturning(view, pod)).map((pod) => `${pod.name} ${folderOf(view, pod)}`);
  return list.length === 0 ? '' : `What lay on them when they came back: ${list.join(', ')}.`;
};

const folderOf = ({ record }: ClusterView, { ordinal }: DataPod): string =>
  `/data/left-behind.${record?.returning?.[ordinal] ?? ''}`;

/** Everybody answers, and nobody has data that counts. A data set that is not kept on the volumes has nothing to look for. */
export const explainOldData = (view: ClusterView): RuleOutcome | undefined => {
  if (findOldStates(view).length === 0 && !view.spec.persistenceEnabled) return undefined;
  const list = listOldData(view);
  if (list === '') return undefined;
  const message =
    `No pod holds data that is known to be of now. ${list} It may be the last copy, so nothing is started empty. Restore ` +
    'the volume of another pod, or run REPLICAOF NO ONE on the pod whose data is to be used; to start empty all the ' +
    `same, on ${view.record?.primaryPod ?? 'an empty pod'}.`;
  return askPerson('OnlyOldData', message);
};
