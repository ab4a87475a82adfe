import { registerEnumType } from '@nestjs/graphql';

export const Freshnesses = { FRESH: 'FRESH', LATE: 'LATE', UNKNOWN: 'UNKNOWN' } as const;
export const MemberClusterStates = { PENDING: 'PENDING', ACTIVE: 'ACTIVE', FORGOTTEN: 'FORGOTTEN' } as const;
export type MemberClusterState = keyof typeof MemberClusterStates;
export const AgentStates = {
  PENDING_TOKEN: 'PENDING_TOKEN',
  PENDING_APPROVAL: 'PENDING_APPROVAL',
  ACTIVE: 'ACTIVE',
  QUARANTINED: 'QUARANTINED',
  REVOKED: 'REVOKED',
} as const;
export type AgentState = keyof typeof AgentStates;
export const ScopeKinds = { CLUSTER: 'CLUSTER', NAMESPACE: 'NAMESPACE' } as const;
export type ScopeKind = keyof typeof ScopeKinds;
export const Inventories = { SYNCED: 'SYNCED', UNKNOWN: 'UNKNOWN' } as const;
export type Inventory = keyof typeof Inventories;

registerEnumType(Freshnesses, {
  name: 'Freshness',
  description: 'How recent reports are. UNKNOWN is neither healthy nor zero.',
  valuesMap: {
    FRESH: { description: 'The agent was heard of within 45 seconds.' },
    LATE: { description: 'Silent for 45 to 90 seconds.' },
    UNKNOWN: { description: 'Silent for more than 90 seconds, or never heard of: values are the last known ones.' },
  },
});
registerEnumType(MemberClusterStates, { name: 'MemberClusterState' });
registerEnumType(AgentStates, {
  name: 'AgentState',
  valuesMap: {
    PENDING_TOKEN: { description: 'Waits for an agent that brings the enrolment token.' },
    PENDING_APPROVAL: { description: 'An agent brought the token and its key; a person has to approve it.' },
    QUARANTINED: { description: 'Two agents used one key, or a key came from another Kubernetes cluster.' },
  },
});
registerEnumType(ScopeKinds, { name: 'ScopeKind', description: 'What an agent owns.' });
registerEnumType(Inventories, {
  name: 'Inventory',
  description: "Whether the agent sees its member cluster's API server.",
});
