/** RedisOperation Failover in the simulated world, whose agent may be killed after any action. */
import { describe, expect, it } from 'vitest';
import { isOperationOver } from '#domain';
import type { PlannedOperation, RedisOperationObject, RedisOperationStatus } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, StoryEvent, StoryResult } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

interface Played extends StoryResult {
  readonly status: RedisOperationStatus;
  readonly handOvers: number;
}

const merge = (last: RedisOperationStatus | undefined, told: PlannedOperation, now: string): RedisOperationStatus => {
  if (last !== undefined && isOperationOver(last.phase)) return last;
  const { phase, reason, message } = told;
  const noted = last?.noted ?? told.noted;
  const startedAt = last?.startedAt ?? (phase === 'Running' ? now : undefined);
  return {
    phase,
    reason,
    message,
    ...(noted === undefined ? {} : { noted }),
    ...(startedAt === undefined ? {} : { startedAt }),
  };
};

/**
 * A data set of three, in which a Failover is asked for from second 20 on. `writesStatus` is asked for each pass whether
 * the agent lived to write the operation's status; the writes come after the actions.
 */
const play = (
  writesStatus: (told: PlannedOperation, pass: number) => boolean,
  story: { readonly killChance?: number; readonly seed?: number; readonly events?: Record<number, StoryEvent> } = {},
): Played => {
  let status: RedisOperationStatus | undefined;
  let pass = 0;
  const plan: PlanWorld = (snapshot, nowMs) => {
    const operation: RedisOperationObject = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name: 'move', namespace: 'shop', uid: 'uid-move' },
      spec: { redisCluster: 'orders', type: 'Failover' },
      ...(status === undefined ? {} : { status }),
    };
    const isAsked = nowMs >= 20_000 && !isOperationOver(status?.phase);
    const operations = isAsked ? [operation] : [];
    const made = planRedisCluster({ snapshot: { ...snapshot, operations }, nowMs, policy: DEFAULT_PLANNER_POLICY });
    const [told] = made.operations ?? [];
    if (told === undefined) return made;
    pass += 1;
    if (writesStatus(told, pass)) status = merge(status, told, new Date(nowMs).toISOString());
    return made;
  };
  const { events = {}, ...chance } = story;
  const result = playStory({ spec: { mode: 'Sentinel' }, seconds: 90, events, ...chance }, plan);
  expect(result.violations).toEqual([]);
  const handOvers = result.log.filter((line) => line.includes('SwitchOver (FailoverRequested)')).length;
  return { ...result, status: status ?? {}, handOvers };
};

const primaryOf = ({ world }: StoryResult): string | undefined => world.resource?.status?.currentPrimary;

describe('the story of a Failover', () => {
  it('hands over once, to another pod, without a write lost', () => {
    const played = play(() => true);
    expect(played.status).toMatchObject({ phase: 'Succeeded', reason: 'HandedOver' });
    expect(played.handOvers).toBe(1);
    expect(primaryOf(played)).not.toBe(played.status.noted?.['primary']);
    expect(played.world.excused.size).toBe(0);
  });

  it('killed before its beginning is noted: nothing was done, and it begins anew', () => {
    const played = play((_, pass) => pass > 5);
    expect(played.status).toMatchObject({ phase: 'Succeeded', reason: 'HandedOver' });
    expect(played.handOvers).toBe(1);
  });

  it('killed after the hand-over and before it is told: ended from what was noted, not done again', () => {
    const played = play(({ phase }, pass) => phase === 'Running' || pass > 12);
    expect(played.status).toMatchObject({ phase: 'Succeeded', reason: 'HandedOver' });
    expect(played.handOvers).toBe(1);
  });

  it.each([1, 2, 3, 4, 5])('ends with one hand-over, whatever the agent is killed after (seed %i)', (seed) => {
    const played = play((_, pass) => pass % 3 === 0, { killChance: 0.5, seed });
    expect(played.status).toMatchObject({ phase: 'Succeeded', reason: 'HandedOver' });
    expect(played.handOvers).toBe(1);
    expect(played.world.resource?.status?.phase).toBe('Ready');
  });

  it('a primary that crashes while it is asked for: ended by who is primary then', () => {
    const played = play(() => true, { events: { 21: EVENT.crash(0) } });
    expect(isOperationOver(played.status.phase)).toBe(true);
    expect(played.world.resource?.status?.phase).toBe('Ready');
  });
});
