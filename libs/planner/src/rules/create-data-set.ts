/**
 * The one legal creation (04, Never 5): no record and no trace of one, and every data pod that exists answers, waits and
 * is empty, and no pod that is still to come has a volume older than this object. The record is written first, without a
 * version: that marks a creation which is not finished, so an agent killed before the promotion does it again, on the
 * same pod. Without this order a second agent, or the same one after a crash, would create a second, empty primary.
 */
import { podName, volumeClaimName } from '#manifests';
import type { Action } from '#domain';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { isMaster, isWaiting } from '../replication-role.ts';
import { promotePod, writeRecord } from '../make-action.ts';
import { askPerson, waitFor } from '../rule.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

export const createDataSet: Rule = {
  name: 'create-data-set',
  decide: ({ view, primary }) => {
    if (view.spec.mode === 'Standalone' || primary !== undefined || holdsData(view)) return undefined;
    if (view.record === undefined) return beginCreation(view);
    return isUnfinishedCreation(view) ? finishCreation(view) : undefined;
  },
};

/** The record of a data set whose primary was chosen but never seen as one: nobody can have written to it. */
export const isUnfinishedCreation = ({ record }: ClusterView): boolean =>
  record !== undefined && record.primaryVersion === undefined && record.primaryTerm === 1;

const holdsData = ({ dataPods }: ClusterView): boolean => dataPods.some((pod) => answers(pod) && pod.facts.keys > 0);

const beginCreation = (view: ClusterView): RuleOutcome | undefined => {
  const refusal = explainNotYet(view);
  if (refusal !== undefined) return refusal;
  const chosen = view.dataPods.find(answers);
  if (chosen === undefined) return undefined;
  const reason = 'CreatingDataSet';
  const message = `No data set exists yet, every pod is empty and waits: ${chosen.name} becomes its first primary.`;
  const actions: Action[] = [
    writeRecord(view, { primaryTerm: 1, primaryPod: chosen.name }, reason, message),
    promotePod(chosen, { onlyIfEmpty: true, onlyIfWaiting: true, disruptive: false }, reason, message),
  ];
  return { reason, message, actions };
};

const finishCreation = (view: ClusterView): RuleOutcome => {
  const refusal = explainNotYet(view);
  if (refusal !== undefined) return refusal;
  const chosen = view.dataPods.filter(answers).find((pod) => pod.name === view.record?.primaryPod);
  if (chosen === undefined) {
    return waitFor(
      'WaitingForPods',
      `Waiting for ${view.record?.primaryPod ?? ''}, which was chosen as first primary.`,
    );
  }
  const reason = 'CreatingDataSet';
  const message = `Going on with the creation: ${chosen.name} becomes the first primary.`;
  const safely = { onlyIfEmpty: true, onlyIfWaiting: true, disruptive: false };
  return { reason, message, actions: [promotePod(chosen, safely, reason, message)] };
};

const explainNotYet = (view: ClusterView): RuleOutcome | undefined => {
  const silent = view.dataPods.filter((pod) => !answers(pod) || pod.terminating || pod.facts.loading);
  if (view.dataPods.length === 0 || silent.length > 0) {
    const list = silent.map((pod) => pod.name).join(', ');
    return waitFor('WaitingForPods', `Waiting for ${list === '' ? 'the first pods' : list} to answer.`);
  }
  const pods = view.dataPods.filter(answers);
  const unexpected = pods.filter((pod) => !isWaiting(pod));
  if (unexpected.length > 0) return explainUnexpected(unexpected);
  const older = findOlderVolumes(view);
  if (older.length === 0) return undefined;
  return waitFor(
    'WaitingForPods',
    `Volumes ${older.join(', ')} are older than this object; their pods must answer before anything is created.`,
  );
};

const explainUnexpected = (pods: readonly AnsweringPod[]): RuleOutcome => {
  const masters = pods.filter(isMaster).map((pod) => pod.name);
  if (masters.length === 0) {
    return waitFor(
      'WaitingForPods',
      `${pods.map((pod) => pod.name).join(', ')} follow somebody; waiting for that to settle.`,
    );
  }
  const message =
    `${masters.join(', ')} run as primary, but no record says so. ` +
    'Nothing is created beside them: delete these pods and they come back waiting, or restore the record.';
  return askPerson('UnrecordedPrimary', message);
};

/** Volumes of pods that do not exist now and that are older than this object: they may hold an earlier life's data. */
const findOlderVolumes = ({ snapshot, names, spec, dataPods }: ClusterView): readonly string[] => {
  const bornAt = snapshot.resource.metadata.creationTimestamp ?? '';
  const present = new Set(dataPods.map((pod) => pod.name));
  const absent = Array.from({ length: spec.size }, (_, ordinal) => podName(names.redis, ordinal));
  return absent
    .filter((pod) => !present.has(pod))
    .map((pod) => findChild(snapshot, 'PersistentVolumeClaim', volumeClaimName(pod)))
    .filter((claim) => claim !== undefined && (claim.metadata.creationTimestamp ?? '') < bornAt)
    .map((claim) => claim?.metadata.name ?? '');
};
