import type { Freshness } from '#domain';
import type { Agent } from './member-cluster.model.ts';

const RANK: Readonly<Record<Freshness, number>> = { UNKNOWN: 0, LATE: 1, FRESH: 2 };

/**
 * The approved agent that tells how fresh a member cluster is: the least fresh, and of equals the one that is silent
 * longest. Undefined when none is approved. The most fresh one would hide that a namespace is not heard of any more.
 */
export function leastFresh(agents: readonly Agent[]): Agent | undefined {
  const approved = agents.filter((agent) => agent.state === 'ACTIVE' || agent.state === 'QUARANTINED');
  return approved.sort(
    (a, b) => RANK[a.freshness] - RANK[b.freshness] || (b.ageSeconds ?? Infinity) - (a.ageSeconds ?? Infinity),
  )[0];
}
