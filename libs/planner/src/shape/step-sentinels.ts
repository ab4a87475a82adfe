/**
 * The next number of Sentinels: one more or one less at a time, and only while all there are (on the way down those that
 * stay and a majority) watch the primary and see each other, and nobody else: a Sentinel that is gone counts in the majority until the others have looked anew
 * (forget-lost-replicas). The quorum is never above a majority of those that were there before the step.
 */
import type { SentinelFacts } from '#domain';
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
    const message = `${count} Sentinels, on the way to ${sentinel.replicas}: waiting until ${whoSettles(count, sentinel.replicas)} see ${primary?.name ?? 'a primary'} and each other.`;
    return hold('SentinelsNotAgreed', message, { sentinel: { ...sentinel, replicas: count, quorum } });
  }
  const next = count + Math.sign(sentinel.replicas - count);
  const message = `There are ${next} Sentinels now, on the way to ${sentinel.replicas}.`;
  return hold('ScalingSentinels', message, { sentinel: { ...sentinel, replicas: next, quorum } });
};

const whoSettles = (count: number, goal: number): string =>
  goal > count ? 'all of them' : `the first ${countRequired(count, goal)}`;

/**
 * Down, a majority of those there are now, and all that stay for good, are enough: they outvote the one that leaves, whatever
 * has become of it. One that never started could otherwise not be taken back.
 */
const countRequired = (count: number, goal: number): number =>
  goal > count ? count : Math.max(goal, Math.floor(count / 2) + 1);

const isSettled = (view: ClusterView, primary: AnsweringPod | undefined): boolean => {
  const count = view.spec.sentinel.replicas;
  if (primary === undefined || judgeSentinels(view).failoverInProgress) return false;
  const required = countRequired(count, view.wanted.sentinel.replicas);
  const staying = view.sentinelPods.filter(({ ordinal }) => ordinal < required);
  if (staying.length < required || view.sentinelPods.some(({ ordinal }) => ordinal >= count)) return false;
  return staying.every(
    ({ facts, terminating }) => !terminating && watches(facts, primary) && seesPeers(facts, required, count),
  );
};

const watches = (facts: SentinelFacts, primary: AnsweringPod): boolean =>
  facts.reachable && facts.monitors && facts.quorumOk && facts.primaryHost === primary.ip;

/** Everybody that is required, and nobody that is gone: such a one counts in the majority too. */
const seesPeers = (facts: SentinelFacts, required: number, count: number): boolean =>
  facts.reachable && facts.otherSentinels >= required - 1 && facts.otherSentinels < count;
