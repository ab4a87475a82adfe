import { describe, expect, it } from 'vitest';

import { explainHold, judgeDelete, type BreakerVerdict } from './delete-breaker.rules.ts';

const limits = { perAgent: 3, perActor: 10, fleet: 20 };

describe('rule 2: the delete breaker', () => {
  it.each<[string, number, number, number, BreakerVerdict]>([
    ['the third of an agent passes', 2, 2, 2, 'PASS'],
    ['the fourth of an agent waits', 3, 3, 3, 'AGENT_LIMIT'],
    ['the eleventh of an actor waits, wherever it is', 0, 10, 10, 'ACTOR_LIMIT'],
    ['the twenty-first of the fleet waits, whoever asks', 0, 0, 20, 'FLEET_LIMIT'],
    ['the twentieth of the fleet passes', 0, 0, 19, 'PASS'],
  ])('%s', (_, byAgent, byActor, inFleet, verdict) => {
    expect(judgeDelete({ byAgent, byActor, inFleet }, limits)).toBe(verdict);
  });

  it.each(['AGENT_LIMIT', 'ACTOR_LIMIT', 'FLEET_LIMIT'] as const)('says what to do about %s', (verdict) => {
    expect(explainHold(verdict, limits)).toMatch(/approveDeletes.*forgetRedisCluster/);
  });

  it('with a limit of 0 lets nothing pass without an approval', () => {
    expect(judgeDelete({ byAgent: 0, byActor: 0, inFleet: 0 }, { ...limits, perAgent: 0 })).toBe('AGENT_LIMIT');
  });
});
