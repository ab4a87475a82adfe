/**
 * What a rollout says of itself: progress and what it waits for in `status.rollout`, the conditions RestartPending and
 * Reconciling, and Stalled once it has waited for the same thing too long. A stall is told with its age and never broken
 * by force. How long is too long follows from what a replica has to copy.
 */
import type { RolloutStatus } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import type { Finding, RuleOutcome } from '../rule.ts';
import { takesTurn } from './explain-hold.ts';
import type { Unrest } from './explain-unrest.ts';
import type { OutdatedPods } from './find-outdated.ts';

/** redis-engine 1.1.7: 60 s and three times what a full copy takes at 50 MB/s. */
const STALL_BASE_MS = 60_000;
const COPY_BYTES_PER_MS = 50_000;

export const tellRollout = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  outdated: OutdatedPods,
  why: Unrest,
): RuleOutcome => {
  const rollout = describeProgress(view, outdated, why);
  const findings: Finding[] = [];
  const left = [...outdated.sentinels, ...outdated.data].map((pod) => pod.name);
  if (left.length > 0) {
    const message = `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} to be restarted. ${why.message}`;
    findings.push({ type: 'RestartPending', status: 'True', reason: why.reason, message });
  }
  if (takesTurn(rollout)) {
    findings.push({ type: 'Reconciling', status: 'True', reason: why.reason, message: why.message });
    findings.push(...explainStall(view, primary, rollout));
  }
  return { reason: why.reason, message: why.message, findings, rollout };
};

const describeProgress = (view: ClusterView, outdated: OutdatedPods, why: Unrest): RolloutStatus => {
  const total = view.dataPods.length + view.sentinelPods.length;
  const last = view.snapshot.resource.status?.rollout;
  const isSame = last?.reason === why.reason && last.waitingFor === why.message;
  return {
    updated: total - outdated.sentinels.length - outdated.data.length,
    total,
    reason: why.reason,
    waitingFor: why.message,
    since: isSame ? last.since : new Date(view.nowMs).toISOString(),
  };
};

const explainStall = (
  { nowMs }: ClusterView,
  primary: AnsweringPod | undefined,
  { reason, waitingFor, since }: RolloutStatus,
): readonly Finding[] => {
  const limitMs = STALL_BASE_MS + (3 * (primary?.facts.usedMemoryBytes ?? 0)) / COPY_BYTES_PER_MS;
  if (nowMs - Date.parse(since) < limitMs) return [];
  const message = `The rollout has stood still since ${since}: ${waitingFor} Nothing is forced; mend it, or take the change back.`;
  return [{ type: 'Stalled', status: 'True', reason, message }];
};
