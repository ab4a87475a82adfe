/**
 * Whether two nodes hold states of one history, and which is further along. A replication id names a history, the offset
 * a point in it; the second id is the history that a promoted node came from. An append-only server starts with a fresh
 * id, so "unrelated" does not mean "different data": then only the record can tell.
 */
import type { AnsweringPod, ReachableRedis } from './cluster-view.ts';

const NO_HISTORY = /^0*$/;

export const shareHistory = (a: ReachableRedis, b: ReachableRedis): boolean =>
  idsOf(a).some((id) => idsOf(b).includes(id));

const idsOf = (facts: ReachableRedis): readonly string[] =>
  [facts.replicationId, facts.secondReplicationId].filter((id) => !NO_HISTORY.test(id));

/** The pods of the list that are further along than `pod` in its own history. */
export const aheadOf = (pod: AnsweringPod, others: readonly AnsweringPod[]): readonly AnsweringPod[] =>
  others.filter(
    (other) =>
      other.name !== pod.name &&
      shareHistory(other.facts, pod.facts) &&
      other.facts.offsetBytes > pod.facts.offsetBytes,
  );

/**
 * The one to go on from: of pods that all share one history the furthest, of equals the lowest ordinal. undefined when
 * there is none, or when two of them have nothing in common.
 */
export const furthestOfOneHistory = (pods: readonly AnsweringPod[]): AnsweringPod | undefined => {
  const [first, ...rest] = [...pods].sort((a, b) => b.facts.offsetBytes - a.facts.offsetBytes || a.ordinal - b.ordinal);
  if (first === undefined) return undefined;
  return rest.every((pod) => shareHistory(pod.facts, first.facts)) ? first : undefined;
};

/** True when `older` is a state that `newer` has passed: replacing it by `newer` loses nothing. */
export const isPastOf = (older: ReachableRedis, newer: ReachableRedis): boolean =>
  shareHistory(older, newer) && older.offsetBytes <= newer.offsetBytes;
