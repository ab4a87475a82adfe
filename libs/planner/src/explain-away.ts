/**
 * Whether another data pod is away for a moment: decided from the pods of the accepted size and what their Redis says.
 * Away is what ends by itself: missing, being deleted, starting, loading, or without its copy yet, on a Ready node.
 * Invariant: no hand-over and no move of a serving replica begins while the disruption before it lasts (04, Never 4); else
 * a Failover right after an eviction takes the second pod of three. A pod on a lost node, or one that Kubernetes cannot
 * start, holds nothing up: it may never return, and a person may need the hand-over exactly then.
 */
import { podName } from '#manifests';
import { answers } from './cluster-view.ts';
import type { ClusterView, DataPod } from './cluster-view.ts';

export const ANOTHER_POD_AWAY = 'AnotherPodAway';

/** A pod younger than this is believed to be on its way, whatever it does. */
const YOUNG_POD_MS = 120_000;
/** A volume that hangs on a lost node is given up by Kubernetes after 6 minutes; what has not started by then is stuck. */
const STARTS_WITHIN_MS = 600_000;

/** A sentence that names the pod and what it does; `except`: pods whose own state is no reason to wait. */
export const explainAway = (view: ClusterView, except: readonly string[]): string | undefined => {
  const names = Array.from({ length: view.spec.size }, (_, ordinal) => podName(view.names.redis, ordinal));
  for (const name of names.filter((each) => !except.includes(each))) {
    const doing = explainAbsence(
      view,
      view.dataPods.find((pod) => pod.name === name),
    );
    if (doing !== undefined) return `${name} ${doing}; one pod at a time, so this waits until it is back.`;
  }
  return undefined;
};

const explainAbsence = (view: ClusterView, pod: DataPod | undefined): string | undefined => {
  if (pod === undefined) return 'is missing and is being made';
  if (!pod.nodeReady) return undefined;
  if (pod.terminating) return 'is being deleted';
  if (pod.waitingReason !== undefined) return undefined;
  return answers(pod) ? explainCopy(view, pod) : explainSilence(view, pod);
};

/**
 * Kubernetes names no reason for a volume that cannot be attached, so a start does not count for ever. A server that has
 * run for long and is silent hangs, or is out of our sight only: nothing says that it comes back.
 */
const explainSilence = (view: ClusterView, pod: DataPod): string | undefined => {
  const { facts, phase } = pod;
  if (phase === 'Pending') return ageMs(view, pod, 0) < STARTS_WITHIN_MS ? 'is starting' : undefined;
  const refuses = !facts.reachable && (facts.reason === 'REFUSED' || facts.reason === 'NO_ADDRESS');
  return refuses || isYoung(view, pod) ? 'is starting' : undefined;
};

const explainCopy = (view: ClusterView, pod: DataPod): string | undefined => {
  if (!answers(pod)) return undefined;
  const { facts } = pod;
  if (facts.loading) return 'is loading its data';
  if (facts.syncInProgress) return 'is receiving its copy';
  return facts.role === 'slave' && facts.linkUp !== true && isYoung(view, pod) ? 'is not linked yet' : undefined;
};

const isYoung = (view: ClusterView, pod: DataPod): boolean => ageMs(view, pod, Infinity) < YOUNG_POD_MS;

const ageMs = ({ nowMs }: ClusterView, { createdAtMs }: DataPod, unknown: number): number =>
  createdAtMs === undefined ? unknown : nowMs - createdAtMs;
