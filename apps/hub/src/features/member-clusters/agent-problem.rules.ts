/**
 * Why what an agent reports may not be what is. An agent that speaks and does not see its API server (03 rule 10) is another
 * trouble than one that is silent: the first is mended in the member cluster, the second on the way to it.
 */
import type { ErrorCode, Freshness } from '#domain';

import type { AgentState, Inventory } from './member-cluster.enums.ts';

export interface AgentCondition {
  readonly state: AgentState;
  /** Null: never heard. */
  readonly verdict: Freshness | null;
  readonly inventory: Inventory | null;
  /** It told more than the hub keeps of one agent, not long ago. */
  readonly over_limit: boolean | null;
}

/** The code of the trouble that has to go first; undefined: none. */
export function findAgentProblem({
  state,
  verdict,
  inventory,
  over_limit: isOver,
}: AgentCondition): ErrorCode | undefined {
  switch (state) {
    case 'PENDING_TOKEN':
    case 'PENDING_APPROVAL':
      return 'MEMBER_CLUSTER_NOT_APPROVED';
    case 'QUARANTINED':
      return 'AGENT_QUARANTINED';
    case 'REVOKED':
      return 'AGENT_REVOKED';
    case 'ACTIVE':
      if (verdict === null || verdict === 'UNKNOWN') return 'AGENT_UNREACHABLE';
      if (inventory !== 'SYNCED') return 'MEMBER_API_DOWN';
      return isOver === true ? 'AGENT_OVER_LIMIT' : undefined;
  }
}
