/**
 * Which pod is restarted next, by the roles of now and not by ordinals: a pod that serves nobody at once, whatever else
 * is the matter; a replica that can never load what its primary writes; then, of those that a RedisOperation names if it
 * names any, the Sentinels; then replicas, those that are
 * not linked first; the primary last, when every replica is new. A newer engine's Sentinel understands older servers and a
 * newer replica an older primary, not the reverse.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { isLinkedTo } from '../assess-health.ts';
import { cannotLoadFrom } from '../lineage.ts';
import { followsAddressOf } from '../replication-role.ts';
import type { OutdatedPods } from './find-outdated.ts';

export type NextRestart =
  | { readonly kind: 'sentinel'; readonly pod: SentinelPod; readonly apart: ReadonlySet<string> }
  | {
      readonly kind: 'replica';
      readonly pod: DataPod;
      readonly apart: ReadonlySet<string>;
      /** It is no second copy and can become none as it is: nothing is disturbed, so no hold of the user's applies. */
      readonly repairs: boolean;
    }
  | { readonly kind: 'primary'; readonly pod: AnsweringPod; readonly apart: ReadonlySet<string> };

/**
 * Outdated pods that run nothing: Kubernetes says why they do not start, and no process answers. A pod whose disk dies
 * with it, and whose process has held data, is not among them unless another pod is the confirmed primary.
 */
export const findBroken = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  { sentinels, data }: OutdatedPods,
): readonly (DataPod | SentinelPod)[] =>
  [...sentinels, ...data].filter((pod) => {
    if (pod.ready || pod.terminating || !pod.nodeReady) return false;
    if (pod.waitingReason === undefined || pod.facts.reachable) return false;
    return pod.component === 'sentinel' || losesNothing(view, primary, pod);
  });

const losesNothing = (
  { spec }: ClusterView,
  primary: AnsweringPod | undefined,
  pod: DataPod | SentinelPod,
): boolean => {
  const keepsDisk = spec.storage.type === 'PersistentVolume' || !spec.persistenceEnabled;
  return keepsDisk || neverRan(pod) || (primary !== undefined && primary.name !== pod.name);
};

const neverRan = ({ restarts, waitingReason = '' }: DataPod | SentinelPod): boolean =>
  restarts === 0 && !waitingReason.startsWith('CrashLoopBackOff');

export const chooseRestart = (primary: AnsweringPod, outdated: OutdatedPods): NextRestart | undefined => {
  const replicas = outdated.data.filter((pod) => pod.name !== primary.name);
  const unlinked = replicas.filter((pod) => !isLinkedTo(pod, primary));
  const unable = unlinked.find((pod) => isUnable(pod, primary));
  if (unable !== undefined) {
    // Whoever is silent or on its way may hold what nobody else does: such a pod is waited for.
    const known = unlinked.filter((pod) => answers(pod) && !pod.terminating);
    return { kind: 'replica', pod: unable, apart: apartFrom(unable, known), repairs: true };
  }
  const next = onlyAsked(outdated);
  const [sentinel] = [...next.sentinels].sort((a, b) => Number(serves(a)) - Number(serves(b)));
  if (sentinel !== undefined) return { kind: 'sentinel', pod: sentinel, apart: new Set([sentinel.name]) };
  const isNext = ({ name }: DataPod): boolean => next.data.some((pod) => pod.name === name);
  const replica = unlinked.find(isNext) ?? replicas.find(isNext);
  if (replica !== undefined) {
    return { kind: 'replica', pod: replica, apart: apartFrom(replica, unlinked), repairs: false };
  }
  return isNext(primary) ? { kind: 'primary', pod: primary, apart: new Set() } : undefined;
};

/** Who was asked for by name waits for no window, so not for those that do either. */
const onlyAsked = ({ asked, sentinels, data }: OutdatedPods): Pick<OutdatedPods, 'sentinels' | 'data'> => {
  const isAsked = ({ name }: DataPod | SentinelPod): boolean => asked.has(name);
  return [...sentinels, ...data].some(isAsked)
    ? { sentinels: sentinels.filter(isAsked), data: data.filter(isAsked) }
    : { sentinels, data };
};

/** A failover to an updated pod in the middle of an upgrade: the older ones can take no copy from it. */
const isUnable = (pod: DataPod, primary: AnsweringPod): boolean =>
  answers(pod) && !pod.terminating && followsAddressOf(pod, primary) && cannotLoadFrom(pod, primary);

const serves = (pod: SentinelPod): boolean => pod.ready && pod.facts.reachable;

/** Replicas that are not linked are no second copy, so none of them has to be waited for before another is restarted. */
const apartFrom = (replica: DataPod, unlinked: readonly DataPod[]): ReadonlySet<string> =>
  new Set([replica, ...(unlinked.includes(replica) ? unlinked : [])].map((pod) => pod.name));

/** A replica that receives its copy is let finish: restarting it would only begin the copy again. */
export const isReceiving = (pod: DataPod): boolean => answers(pod) && (pod.facts.syncInProgress || pod.facts.loading);
