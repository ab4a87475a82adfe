import { describe, expect, it } from 'vitest';
import { chooseAgent, type AgentCandidate } from './choose-agent.rules.ts';

const agent = (id: string, scopeNamespace: string | null, state = 'ACTIVE'): AgentCandidate => ({
  id,
  scopeKind: scopeNamespace === null ? 'CLUSTER' : 'NAMESPACE',
  scopeNamespace,
  state,
});
const chosen = (agents: AgentCandidate[], namespace = 'shop') => {
  const outcome = chooseAgent(agents, namespace);
  return outcome.ok ? outcome.value.id : outcome.errors[0]?.code;
};

describe('the agent of a namespace', () => {
  it.each([
    ['its own agent', [agent('wide', null), agent('own', 'shop')], 'own'],
    ['the one of scope CLUSTER', [agent('wide', null), agent('other', 'bank')], 'wide'],
    ['nobody', [agent('other', 'bank')], 'NO_AGENT_FOR_NAMESPACE'],
    ['nobody while approval is pending', [agent('own', 'shop', 'PENDING_APPROVAL')], 'NO_AGENT_FOR_NAMESPACE'],
    [
      'the wide one while its own is not approved',
      [agent('wide', null), agent('own', 'shop', 'PENDING_TOKEN')],
      'wide',
    ],
    ['no way around a quarantine', [agent('wide', null), agent('own', 'shop', 'QUARANTINED')], 'AGENT_QUARANTINED'],
  ])('is %s', (_what, agents, expected) => {
    expect(chosen(agents)).toBe(expected);
  });
});
