/**
 * Whether two nodes hold states of one history, and which is further along. A replication id names a history, the offset
 * a point in it; the second id is the history that a promoted node came from. An append-only server starts with a fresh
 * id, so "unrelated" does not mean "different data": then only the record can tell.
 */
import { readsRdbOf } from '#domain';
import type { AnsweringPod, ReachableRedis } from './cluster-view.ts';

const NO_HISTORY = /^0*$/;

export const shareHistory = (a: ReachableRedis, b: ReachableRedis): boolean =>
  idsOf(a).some((id) => idsOf(b).includes(id));

const idsOf = (facts: ReachableRedis): readonly string[] =>
  [facts.replicationId, facts.secondReplicationId].filter((id) => !NO_HISTORY.test(id));

/** `later` was promoted out of the history that `earlier` is in. */
export const isPromotedFrom = (later: ReachableRedis, earlier: ReachableRedis): boolean =>
  later.secondReplicationId === earlier.replicationId && !NO_HISTORY.test(earlier.replicationId);

/** The history that this one was promoted out of; undefined for one that never was a replica, or has restarted since. */
export const formerHistory = ({ secondReplicationId }: ReachableRedis): string | undefined =>
  NO_HISTORY.test(secondReplicationId) ? undefined : secondReplicationId;

/**
 * `a` is further along than `b`: in the same history by its offset, else when it was promoted out of b's history. The
 * later promotion counts, whatever the offsets: what `b` took beyond that point it took as a deposed primary.
 */
const isFurther = (a: ReachableRedis, b: ReachableRedis): boolean =>
  a.replicationId === b.replicationId ? a.offsetBytes > b.offsetBytes : isPromotedFrom(a, b);

/** The pods of the list that are further along than `pod`. */
export const aheadOf = (pod: AnsweringPod, others: readonly AnsweringPod[]): readonly AnsweringPod[] =>
  others.filter((other) => isFurther(other.facts, pod.facts));

/**
 * The one to go on from: nobody is further along, and everybody else is behind it or exactly with it; of equals the one
 * whose snapshot the others can load, which in the middle of an upgrade is the older version, then the lowest ordinal. An
 * older one could not take a copy from a newer one. undefined when there is none, or when two of them have nothing in common.
 */
export const furthestOfOneHistory = (pods: readonly AnsweringPod[]): AnsweringPod | undefined =>
  [...pods]
    .sort((a, b) => Number(reads(a, b)) - Number(reads(b, a)) || a.ordinal - b.ordinal)
    .find((pod) =>
      pods.every((other) => other === pod || isLevel(pod.facts, other.facts) || isFurther(pod.facts, other.facts)),
    );

const reads = (reader: AnsweringPod, writer: AnsweringPod): boolean => readsRdbOf(engineOf(reader), engineOf(writer));

const engineOf = ({ facts }: AnsweringPod) => ({ type: facts.engine, version: facts.version });

/** It is not linked, and a whole copy from this primary is nothing that it can load; the backlog may still do. */
export const isCutOffByVersion = (replica: AnsweringPod, primary: AnsweringPod): boolean =>
  replica.facts.role === 'slave' && replica.facts.linkUp !== true && !reads(replica, primary);

/**
 * It asks this primary for a copy that it can never load: only a newer version on it mends that. While it has keys, or
 * reads its own disk, it is a copy itself, whose link may be back in a moment.
 */
export const cannotLoadFrom = (replica: AnsweringPod, primary: AnsweringPod): boolean =>
  isCutOffByVersion(replica, primary) && replica.facts.keys === 0 && !replica.facts.loading;

const isLevel = (a: ReachableRedis, b: ReachableRedis): boolean =>
  a.replicationId === b.replicationId && a.offsetBytes === b.offsetBytes;

/** True when `older` is a state that `newer` has passed: replacing it by `newer` loses nothing. */
export const isPastOf = (older: ReachableRedis, newer: ReachableRedis): boolean =>
  shareHistory(older, newer) && older.offsetBytes <= newer.offsetBytes;
