import { expect, it } from 'vitest';
import { type AgentCondition, findAgentProblem } from './agent-problem.rules.ts';

const fine: AgentCondition = { state: 'ACTIVE', verdict: 'FRESH', inventory: 'SYNCED', over_limit: null };

it.each<[string, Partial<AgentCondition>, string | undefined]>([
  ['all is well', {}, undefined],
  ['late is still heard', { verdict: 'LATE' }, undefined],
  ['it speaks and does not see its API server', { inventory: 'UNKNOWN' }, 'MEMBER_API_DOWN'],
  [
    'silence comes first: what it saw last does not count',
    { verdict: 'UNKNOWN', inventory: 'UNKNOWN' },
    'AGENT_UNREACHABLE',
  ],
  ['it tells more than the hub keeps', { over_limit: true }, 'AGENT_OVER_LIMIT'],
  ['it does not see its API server, which comes first', { over_limit: true, inventory: 'UNKNOWN' }, 'MEMBER_API_DOWN'],
  ['it never came', { verdict: null, inventory: null }, 'AGENT_UNREACHABLE'],
  ['it waits for a person', { state: 'PENDING_APPROVAL', verdict: null }, 'MEMBER_CLUSTER_NOT_APPROVED'],
  ['it may not speak', { state: 'QUARANTINED' }, 'AGENT_QUARANTINED'],
  ['it was forgotten', { state: 'REVOKED' }, 'AGENT_REVOKED'],
])('%s', (_, change, code) => {
  expect(findAgentProblem({ ...fine, ...change })).toBe(code);
});
