import { describe, expect, it } from 'vitest';
import { leastFresh } from './least-fresh.rules.ts';
import type { Agent } from './member-cluster.model.ts';

const agent = (id: string, freshness: Agent['freshness'], ageSeconds: number | null, state = 'ACTIVE'): Agent =>
  ({ id, freshness, ageSeconds, state }) as Agent;

describe('the agent that speaks for a member cluster', () => {
  it.each([
    ['the least fresh', [agent('a', 'FRESH', 1), agent('b', 'LATE', 50)], 'b'],
    ['of equals the one silent longest', [agent('a', 'FRESH', 1), agent('b', 'FRESH', 9)], 'b'],
    ['one never heard of', [agent('a', 'UNKNOWN', 500), agent('b', 'UNKNOWN', null)], 'b'],
    ['nobody, when none is approved', [agent('a', 'UNKNOWN', null, 'PENDING_TOKEN')], undefined],
  ])('is %s', (_what, agents, expected) => {
    expect(leastFresh(agents)?.id).toBe(expected);
  });
});
