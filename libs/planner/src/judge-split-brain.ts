/**
 * Two nodes say "master" and both hold keys: which of them is the data set, and what the other holds of its own. Order of
 * authority (04, Never 6): the confirmed primary (Sentinel majority, record of the highest term) → the one that a person
 * named → the recorded one, unless the Sentinels had deposed it → the one that was promoted out of the others' history → the one that most of the rest
 * follow. Sentinels that may still choose, or are out of sight, are waited for. Nobody: only a person can tell.
 */
import { ANNOTATION } from '#domain';
import type { AnsweringPod, ClusterView, ReachableRedis } from './cluster-view.ts';
import { answers } from './cluster-view.ts';
import { followsAddressOf, isMaster } from './replication-role.ts';
import { judgeSentinels } from './judge-sentinels.ts';
import { isPromotedFrom } from './lineage.ts';

type Truth =
  | { readonly kind: 'known'; readonly pod: AnsweringPod; readonly because: string }
  | { readonly kind: 'left-to-sentinel' }
  | { readonly kind: 'undecided' };

/** Masters that hold keys, in the order of their ordinals. */
export const findRivals = (view: ClusterView): readonly AnsweringPod[] =>
  view.dataPods.filter(isMaster).filter((pod) => pod.facts.keys > 0 && !pod.facts.loading);

export const judgeTruth = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  rivals: readonly AnsweringPod[],
): Truth => {
  if (sentinelsMayChoose(view)) return { kind: 'left-to-sentinel' };
  if (primary !== undefined) {
    const confirmed = rivals.find((pod) => pod.name === primary.name);
    return confirmed === undefined ? { kind: 'undecided' } : known(confirmed, explainConfirmed(view));
  }
  return judgeByName(view, rivals) ?? judgeByHistory(view, rivals) ?? { kind: 'undecided' };
};

const known = (pod: AnsweringPod, because: string): Truth => ({ kind: 'known', pod, because });

const judgeByName = (view: ClusterView, rivals: readonly AnsweringPod[]): Truth | undefined => {
  const named = view.snapshot.resource.metadata.annotations?.[ANNOTATION.truePrimary];
  const chosen = rivals.find((pod) => pod.name === named);
  if (chosen !== undefined) return known(chosen, `the annotation ${ANNOTATION.truePrimary} names it`);
  const { record } = view;
  const recorded = rivals.find((pod) => pod.name === record?.primaryPod);
  if (recorded !== undefined && wasOvertaken(view, recorded, rivals)) return undefined;
  return recorded && known(recorded, `it is the recorded primary of term ${record?.primaryTerm ?? 0}`);
};

/**
 * In Sentinel mode the record follows the Sentinels. When they chose and then all lost their memory, it names the deposed
 * one: another rival was promoted out of its history, and nobody follows it any more.
 */
const wasOvertaken = ({ spec }: ClusterView, recorded: AnsweringPod, rivals: readonly AnsweringPod[]): boolean =>
  spec.mode === 'Sentinel' &&
  recorded.facts.connectedReplicas === 0 &&
  rivals.some((rival) => isPromotedFrom(rival.facts, recorded.facts));

const judgeByHistory = (view: ClusterView, rivals: readonly AnsweringPod[]): Truth | undefined => {
  const latest = rivals.find((pod) => rivals.every((other) => other === pod || isPromotedFrom(pod.facts, other.facts)));
  if (latest !== undefined) return known(latest, 'it was promoted out of the history of the other');
  const followed = findMostFollowed(view, rivals);
  return followed && known(followed, 'most of the other pods follow it');
};

const explainConfirmed = (view: ClusterView): string =>
  view.spec.mode === 'Sentinel'
    ? 'the Sentinel majority names it'
    : `it is the recorded primary of term ${view.record?.primaryTerm ?? 0}`;

/** Also a choice that is made stays open until all of them say so: the one it fell on must not be fenced. */
const sentinelsMayChoose = (view: ClusterView): boolean => {
  if (view.spec.mode !== 'Sentinel') return false;
  const { majorityAnswers, failoverInProgress, agreedHost } = judgeSentinels(view);
  const named = view.dataPods.find((pod) => pod.ip !== undefined && pod.ip === agreedHost);
  return !majorityAnswers || failoverInProgress || (named !== undefined && !answers(named));
};

const NO_HISTORY = /^0*$/;

/** More than half of the pods that are no rivals are linked to it. */
const findMostFollowed = (view: ClusterView, rivals: readonly AnsweringPod[]): AnsweringPod | undefined => {
  const rest = view.dataPods.filter((pod) => !rivals.some((rival) => rival.name === pod.name));
  return rivals.find((rival) => {
    const linked = rest.filter((pod) => answers(pod) && pod.facts.linkUp === true && followsAddressOf(pod, rival));
    return linked.length * 2 > rest.length;
  });
};

/** Everything that `loser` holds is in `truth` as well, as their histories tell: it can follow without a loss. */
export const hasNothingOfItsOwn = (loser: ReachableRedis, truth: ReachableRedis): boolean => {
  if (NO_HISTORY.test(loser.replicationId)) return false;
  if (loser.replicationId === truth.replicationId) return loser.offsetBytes <= truth.offsetBytes;
  if (!isPromotedFrom(truth, loser) || truth.secondOffsetBytes === undefined) return false;
  return loser.offsetBytes < truth.secondOffsetBytes;
};
