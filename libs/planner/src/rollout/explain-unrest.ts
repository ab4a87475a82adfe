/**
 * What still has to settle before the next pod may be restarted: every data pod there, ready and answering, every replica
 * linked, in sync and close behind, every Sentinel watching the same primary with its quorum. The pods that are to be
 * restarted next may be the defect themselves (`apart`). Invariant: a restart never takes away the second copy; without
 * this gate a rollout would restart the pod that the last one has not finished copying from.
 */
import { podName } from '#manifests';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { explainStuckPod } from '../explain-stuck-pod.ts';
import { followsAddressOf } from '../replication-role.ts';
import { judgeSentinels } from '../judge-sentinels.ts';

/** What is waited for, with the object. */
export interface Unrest {
  /** Stable code in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** What a linked replica gets within a fraction of a second; INFO of two servers is never of the same instant. */
const MAX_GAP_BYTES = 4 * 1024 * 1024;

export const explainUnrest = (
  view: ClusterView,
  primary: AnsweringPod,
  apart: ReadonlySet<string> = new Set(),
): Unrest | undefined => {
  const data = expectedPods(view.names.redis, view.spec.size, view.dataPods);
  for (const { name, pod } of data.filter((each) => !apart.has(each.name))) {
    const message = explainPod(view, name, pod) ?? (pod && explainReplica(pod, primary));
    if (message !== undefined) return { reason: 'WaitingForPod', message };
  }
  if (view.dataPods.length > view.spec.size) {
    return { reason: 'WaitingForPod', message: 'Waiting for the pods above the size to be gone.' };
  }
  return view.spec.mode === 'Sentinel' ? explainSentinels(view, primary, apart) : undefined;
};

const expectedPods = <P extends DataPod | SentinelPod>(
  set: string,
  size: number,
  pods: readonly P[],
): readonly { readonly name: string; readonly pod: P | undefined }[] =>
  Array.from({ length: size }, (_, ordinal) => podName(set, ordinal)).map((name) => ({
    name,
    pod: pods.find((pod) => pod.name === name),
  }));

const explainPod = (view: ClusterView, name: string, pod: DataPod | SentinelPod | undefined): string | undefined => {
  if (pod === undefined) return `${name} is being made.`;
  if (pod.terminating) return `${name} is ending.`;
  if (!pod.nodeReady) return `${name} is on node ${pod.node ?? 'unknown'}, which is not Ready.`;
  const stuck = pod.ready ? undefined : explainStuckPod(pod, view.snapshot);
  if (stuck !== undefined) return `${name} ${stuck}.`;
  if (!pod.facts.reachable) return `${name} does not answer yet.`;
  return pod.ready ? undefined : `${name} is not ready yet.`;
};

const explainReplica = (pod: DataPod, primary: AnsweringPod): string | undefined => {
  if (!answers(pod)) return undefined;
  const { facts } = pod;
  if (facts.loading) return `${pod.name} is loading its data.`;
  if (pod.name === primary.name) return undefined;
  if (facts.syncInProgress) return `${pod.name} is receiving its copy.`;
  if (!followsAddressOf(pod, primary) || facts.linkUp !== true) return `${pod.name} is not linked to ${primary.name}.`;
  const isClose = primary.facts.offsetBytes - facts.offsetBytes <= MAX_GAP_BYTES;
  return isClose ? undefined : `${pod.name} is too far behind ${primary.name}.`;
};

const explainSentinels = (view: ClusterView, primary: AnsweringPod, apart: ReadonlySet<string>): Unrest | undefined => {
  const reason = 'WaitingForSentinels';
  if (judgeSentinels(view).failoverInProgress) return { reason, message: 'The Sentinels run a failover.' };
  const { replicas } = view.spec.sentinel;
  for (const { name, pod } of expectedPods(view.names.sentinel, replicas, view.sentinelPods)) {
    if (apart.has(name)) continue;
    const message = explainPod(view, name, pod) ?? (pod && explainSentinel(view, pod, primary));
    if (message !== undefined) return { reason, message };
  }
  return undefined;
};

const explainSentinel = (
  view: ClusterView,
  { name, facts }: SentinelPod,
  primary: AnsweringPod,
): string | undefined => {
  if (!facts.reachable) return undefined;
  if (!facts.monitors || facts.primaryHost !== primary.ip) return `${name} does not watch ${primary.name} yet.`;
  if (!facts.quorumOk) return `${name} does not see a quorum.`;
  if (facts.otherSentinels !== view.spec.sentinel.replicas - 1) return `${name} does not see its peers yet.`;
  const known = new Set(facts.replicaHosts ?? []);
  const unknown = view.dataPods.find(({ name: pod, ip = '' }) => pod !== primary.name && !known.has(ip));
  return unknown === undefined ? undefined : `${name} does not know ${unknown.name} yet.`;
};
