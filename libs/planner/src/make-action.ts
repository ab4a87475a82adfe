/** Actions that several rules plan, made in one place so that their preconditions cannot differ. */
import { REDIS_PORT } from '#domain';
import type { Action, DataSetRecord } from '#domain';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';

/** The record with some fields replaced, in the data set's own ConfigMap. */
export const writeRecord = (
  view: ClusterView,
  change: Partial<DataSetRecord>,
  reason: string,
  message: string,
): Action => ({
  kind: 'WriteRecord',
  key: { namespace: view.key.namespace, name: view.names.record },
  record: {
    primaryTerm: 0,
    ...(view.record ?? {}),
    dataSetId: view.dataSetId,
    renderVersion: view.renderVersion,
    ...change,
  },
  reason,
  message,
  disruptive: false,
});

export const promotePod = (
  pod: AnsweringPod,
  safely: {
    readonly onlyIfEmpty: boolean;
    readonly onlyIfWaiting: boolean;
    readonly disruptive: boolean;
    readonly onlyIfRefused?: string;
  },
  reason: string,
  message: string,
): Action => ({ kind: 'PromotePod', pod: pod.name, expectRunId: pod.facts.runId, ...safely, reason, message });

/** `disruptive` when the pod serves somebody now, or may have to take a full copy. */
export const replicateFrom = (pod: AnsweringPod, primary: DataPod, disruptive: boolean, reason: string): Action => ({
  kind: 'ReplicateFrom',
  pod: pod.name,
  expectRunId: pod.facts.runId,
  primaryHost: primary.ip ?? '',
  primaryPort: REDIS_PORT,
  reason,
  message: `${pod.name} becomes a replica of ${primary.name}.`,
  disruptive,
});
