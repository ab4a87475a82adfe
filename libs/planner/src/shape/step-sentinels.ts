/**
 * The next number of Sentinels: one more or one less at a time, and only while all there are watch the primary and see
 * each other, and nobody else: a Sentinel that is gone counts in the majority until the others have looked anew
 * (forget-lost-replicas). The quorum is never above a majority of those that were there before the step.
 */
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

export const stepSentinels = ({ view, primary }: ShapeContext): ShapeStep => {
  const { sentinel } = view.wanted;
  const count = view.spec.sentinel.replicas;
  if (view.live.mode !== 'Sentinel' || count === sentinel.replicas) return { change: { sentinel } };
  const quorum = Math.min(sentinel.quorum, Math.floor(count / 2) + 1);
  if (!isSettled(view, primary)) {
    const message = `${count} Sentinels, on the way to ${sentinel.replicas}: waiting until all of them see ${primary?.name ?? 'a primary'} and each other.`;
    return hold('SentinelsNotAgreed', message, { sentinel: { ...sentinel, replicas: count, quorum } });
  }
  const next = count + Math.sign(sentinel.replicas - count);
  const message = `There are ${next} Sentinels now, on the way to ${sentinel.replicas}.`;
  return hold('ScalingSentinels', message, { sentinel: { ...sentinel, replicas: next, quorum } });
};

const isSettled = (view: ClusterView, primary: AnsweringPod | undefined): boolean => {
  const count = view.spec.sentinel.replicas;
  if (primary === undefined || judgeSentinels(view).failoverInProgress) return false;
  return (
    view.sentinelPods.length === count &&
    view.sentinelPods.every(
      ({ facts, terminating }) =>
        !terminating &&
        facts.reachable &&
        facts.monitors &&
        facts.quorumOk &&
        facts.primaryHost === primary.ip &&
        facts.otherSentinels === count - 1,
    )
  );
};
