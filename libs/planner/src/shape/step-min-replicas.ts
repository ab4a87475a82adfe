/**
 * min-replicas-to-write on the way: lowered at once, so that it is low before a replica goes; raised as far as replicas are
 * linked now, so that it never stops the writes, and no later: with more pods than it was chosen for, a partition could
 * leave a primary and enough replicas on both sides, and what one of them takes is lost (seen: 3 → 4, both with one
 * replica each). A fence asks for more
 * replicas than there can be, on every pod, in the file too: a restart, a failover or an agent that is away lifts it no more.
 */
import { SPEC_LIMITS } from '#domain';
import type { ResolvedSpec } from '#domain';
import { answers } from '../cluster-view.ts';
import { mostWhileRolling } from '../rollout/min-replicas-while-rolling.ts';
import { followsAddressOf } from '../replication-role.ts';
import type { ShapeContext } from './shape-step.ts';

/** No data set has so many. */
export const FENCED_MIN_REPLICAS = SPEC_LIMITS.maxSize + 1;

export const stepMinReplicas = ({ view, primary }: ShapeContext, next: ResolvedSpec): number => {
  if (view.wanted.fenced) return FENCED_MIN_REPLICAS;
  const possible = next.mode === 'Standalone' ? 0 : Math.max(next.size - 1, 0);
  const goal = Math.min(view.wanted.failover.minReplicasToWrite, possible, mostWhileRolling(view));
  const live = view.live.minReplicasToWrite;
  if (live === undefined || goal <= live) return goal;
  const linked = view.dataPods.filter(
    (pod) => primary !== undefined && answers(pod) && pod.facts.linkUp === true && followsAddressOf(pod, primary),
  );
  return Math.max(live, Math.min(goal, linked.length));
};
