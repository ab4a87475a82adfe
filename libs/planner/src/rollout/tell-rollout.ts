/**
 * What a rollout says of itself: progress and what it waits for in `status.rollout`, the conditions RestartPending and
 * Reconciling, and Stalled once it has waited for the same thing too long. A stall is told with its age and never broken
 * by force. How long is too long follows from what a replica has to copy. It is the same thing while reason and pod are
 * the same: what Kubernetes says of a pod that does not start changes its wording every few seconds. One that stands still
 * at its very first data pod, or before it, with the primary not touched yet, disrupts no further: it gives its turn back
 * (`turn`) and takes one again with its next restart. Without this two bad images would keep every other RedisCluster of
 * the agent from being rolled. With one replica or none the turn is kept: given back, one bad image would take the only
 * replica, or the only pod, of every data set in turn. A pod that is added takes nobody, so that one is given back.
 */
import type { RolloutStatus } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import type { Finding, RuleOutcome } from '../rule.ts';
import { isAwaited, isUnderWay } from './explain-hold.ts';
import type { Unrest } from './explain-unrest.ts';
import type { OutdatedPods } from './find-outdated.ts';

/** redis-engine 1.1.7: 60 s and three times what a full copy takes at 50 MB/s. */
const STALL_BASE_MS = 60_000;
const COPY_BYTES_PER_MS = 50_000;

/** Another rule of this pass has something to do first. */
export const WAITING_FOR_OTHERS = 'WaitingForOthers';

/** What is told of one pass: what is waited for, or what is done now. */
export type RolloutNews = Unrest & { readonly acts?: boolean };

export const tellRollout = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  outdated: OutdatedPods,
  why: RolloutNews,
): RuleOutcome => {
  const progress = describeProgress(view, outdated, why);
  const givesBack = isUnderWay(progress) && why.acts !== true && givesTurnBack(view, primary, outdated, progress);
  const rollout: RolloutStatus = givesBack ? { ...progress, turn: 'GivenBack' } : progress;
  const findings: Finding[] = [];
  const left = [...outdated.sentinels, ...outdated.data].map((pod) => pod.name);
  if (left.length > 0) {
    const message = `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} to be restarted. ${why.message}`;
    findings.push({ type: 'RestartPending', status: 'True', reason: why.reason, message });
  }
  if (isAwaited(rollout))
    findings.push({ type: 'Reconciling', status: 'True', reason: why.reason, message: why.message });
  if (isUnderWay(rollout)) findings.push(...explainStall(view, primary, rollout));
  return { reason: why.reason, message: why.message, findings, rollout };
};

const describeProgress = (view: ClusterView, outdated: OutdatedPods, why: Unrest): RolloutStatus => {
  const total = view.dataPods.length + view.sentinelPods.length;
  const last = view.snapshot.resource.status?.rollout;
  const isSame = last?.reason === why.reason && concernsSame(view, last.waitingFor, why);
  return {
    updated: total - outdated.sentinels.length - outdated.data.length,
    total,
    reason: why.reason,
    waitingFor: why.message,
    since: isSame ? last.since : new Date(view.nowMs).toISOString(),
  };
};

/** What is done beside the rollout may concern another pod in each pass, and it is held all the same. */
const concernsSame = (view: ClusterView, before: string, { reason, message }: Unrest): boolean =>
  reason === WAITING_FOR_OTHERS || podIn(view, before) === podIn(view, message);

/** The first pod that a sentence names. */
const podIn = ({ names }: ClusterView, sentence: string): string | undefined =>
  new RegExp(`(?:${names.redis}|${names.sentinel})-\\d+`).exec(sentence)?.[0];

const isStalled = ({ nowMs }: ClusterView, primary: AnsweringPod | undefined, { since }: RolloutStatus): boolean =>
  nowMs - Date.parse(since) >= STALL_BASE_MS + (3 * (primary?.facts.usedMemoryBytes ?? 0)) / COPY_BYTES_PER_MS;

/** Whom it is safe to pass over: what stands still is one of two replicas or more. */
const LEAST_PODS_TO_GIVE_BACK = 3;

/** At most one data pod is of the new template, and the primary is not that one. Once given back it stays so until a restart. */
const givesTurnBack = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  { data }: OutdatedPods,
  progress: RolloutStatus,
): boolean => {
  const takesNobody = view.record?.surge === 'Adding';
  if (!takesNobody && Math.min(view.spec.size, view.dataPods.length) < LEAST_PODS_TO_GIVE_BACK) return false;
  if (view.snapshot.resource.status?.rollout?.turn === 'GivenBack') return true;
  const isUntouched = primary !== undefined && data.some(({ name }) => name === primary.name);
  return view.dataPods.length - data.length <= 1 && isUntouched && isStalled(view, primary, progress);
};

const explainStall = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  rollout: RolloutStatus,
): readonly Finding[] => {
  if (!isStalled(view, primary, rollout)) return [];
  const { reason, waitingFor, since, turn } = rollout;
  const others = turn === undefined ? '' : ' Other RedisClusters are rolled in the meantime.';
  const message = `The rollout has stood still since ${since}: ${waitingFor} Nothing is forced; mend it, or take the change back.${others}`;
  return [{ type: 'Stalled', status: 'True', reason, message }];
};
