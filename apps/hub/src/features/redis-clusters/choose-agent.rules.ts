/**
 * Which agent gets an object: the one that owns the namespace, else the one of scope CLUSTER. A namespace has exactly one
 * owner, so an owner that is quarantined is not gone around; one that is not approved yet owns nothing.
 */
import { type Outcome, refuse, succeed } from '#domain';

export interface AgentCandidate {
  readonly id: string;
  readonly scopeKind: string;
  readonly scopeNamespace: string | null;
  readonly state: string;
}

export function chooseAgent(agents: readonly AgentCandidate[], namespace: string): Outcome<AgentCandidate> {
  const owners = agents.filter((agent) => agent.state === 'ACTIVE' || agent.state === 'QUARANTINED');
  const chosen =
    owners.find((agent) => agent.scopeKind === 'NAMESPACE' && agent.scopeNamespace === namespace) ??
    owners.find((agent) => agent.scopeKind === 'CLUSTER');
  const field = ['input', 'namespace'];
  if (!chosen) return refuse('NO_AGENT_FOR_NAMESPACE', `No approved agent owns namespace "${namespace}".`, field);
  if (chosen.state === 'QUARANTINED') {
    return refuse('AGENT_QUARANTINED', `The agent that owns namespace "${namespace}" is quarantined.`, field);
  }
  return succeed(chosen);
}
