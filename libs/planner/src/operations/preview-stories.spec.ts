/** What a RedisOperation Plan tells is what then happens: the preview beside the deed, in the simulated world. */
import { describe, expect, it } from 'vitest';
import type { PlanPreview, RedisClusterSpec, RedisOperationObject } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const ASKED_MS = 20_000;

const play = (spec: Partial<RedisClusterSpec>, change: Partial<RedisClusterSpec>) => {
  let told: PlanPreview | undefined;
  const plan: PlanWorld = (snapshot, nowMs) => {
    const input = { nowMs, policy: DEFAULT_PLANNER_POLICY };
    if (nowMs !== ASKED_MS) return planRedisCluster({ ...input, snapshot });
    const operation: RedisOperationObject = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name: 'p', namespace: 'shop', uid: 'uid-p' },
      spec: { redisCluster: 'orders', type: 'Plan', plan: { spec: { ...snapshot.resource.spec, ...change } } },
    };
    const made = planRedisCluster({ ...input, snapshot: { ...snapshot, operations: [operation] } });
    told = made.operations?.[0]?.plan;
    return made;
  };
  const events = { [ASKED_MS / 1_000 + 1]: EVENT.editSpec(change) };
  const { log, violations, world } = playStory({ spec, seconds: 140, events }, plan);
  expect(violations).toEqual([]);
  expect(world.resource?.status?.phase).toBe('Ready');
  const restarted = log.flatMap((line) => /EvictPod .* Restarting (?:Sentinel )?(\S+)\.$/.exec(line)?.[1] ?? []);
  const handOvers = log.filter((line) => line.includes('agent: SwitchOver')).length;
  return { told, restarted, handOvers };
};

const CPU = { resources: { requests: { cpu: '60m' } } };
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const POLICY = { config: { 'maxmemory-policy': 'allkeys-lru' } };

describe('the story of a preview', () => {
  const CASES: readonly (readonly [string, Partial<RedisClusterSpec>, Partial<RedisClusterSpec>, number])[] = [
    ['three pods and Sentinels', { mode: 'Sentinel' }, CPU, 3],
    ['other Sentinels', { mode: 'Sentinel' }, { sentinel: { resources: { requests: { cpu: '30m' } } } }, 3],
    ['two pods', { mode: 'Replication', size: 2 }, CPU, 2],
    ['four pods', { mode: 'Replication', size: 4 }, CPU, 4],
    ['one pod on a volume', { mode: 'Standalone', size: 1, ...VOLUMES }, CPU, 1],
    ['one pod that loses its data', { mode: 'Standalone', size: 1 }, CPU, 1],
    ['a directive that is set live', { mode: 'Sentinel' }, POLICY, 0],
    ['a bigger size', { mode: 'Replication', size: 2 }, { size: 4 }, 0],
    ['Sentinels beside replicas', { mode: 'Replication', size: 3 }, { mode: 'Sentinel' }, 0],
    ['no Sentinels any more', { mode: 'Sentinel' }, { mode: 'Replication' }, 0],
    ['a replica for a lone pod', { mode: 'Standalone', size: 1 }, { mode: 'Replication', size: 2 }, 0],
    ['a smaller size', { mode: 'Replication', size: 4 }, { size: 3 }, 0],
  ];

  it.each(CASES)('%s: the same pods in the same order, as often handed over', (_, spec, change, restarts) => {
    const { told, restarted, handOvers } = play(spec, change);
    expect(told?.restarts).toEqual(restarted);
    expect(restarted).toHaveLength(restarts);
    expect(told?.actions.filter(({ kind }) => kind === 'SwitchOver')).toHaveLength(handOvers);
  });
});
