import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { EVENT, playStory } from '#testing';
import type { PlanWorld, StoryEvent, StoryResult } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

/**
 * A node is cut off with the pods on it: the primary and some of its replicas, or replicas alone. The world counts how long
 * two primaries take writes at once, those that nobody of ours reaches included.
 */
const plan: PlanWorld = (snapshot, nowMs) => planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });

const setCut =
  (node: string, partitioned: boolean): StoryEvent =>
  (world) =>
    Object.assign(world.nodes.find(({ name }) => name === node) ?? {}, { partitioned });

const cutOff = (spec: Partial<RedisClusterSpec>, node: string, events: Record<number, StoryEvent> = {}): StoryResult =>
  playStory({ spec, seconds: 85, events: { 30: setCut(node, true), 65: setCut(node, false), ...events } }, plan);

const NODES = ['node-0', 'node-1', 'node-2'];

describe('a partition of a primary with some of its replicas', () => {
  it.each([
    ['Sentinel', 4],
    ['Replication', 5],
    ['Sentinel', 6],
    ['Sentinel', 7],
  ] as const)(
    'mode %s, size %i: two sides never both take writes for longer than one needs to fence itself',
    (mode, size) => {
      for (const node of NODES) {
        const { violations, log } = cutOff({ mode, size }, node);
        expect(violations, log.join('\n')).toEqual([]);
      }
    },
    120_000,
  );

  it('also while pods are added: the bound is raised before they are there', () => {
    for (const node of NODES) {
      const { violations, log } = cutOff({ mode: 'Sentinel', size: 3 }, node, { 28: EVENT.editSpec({ size: 4 }) });
      expect(violations, log.join('\n')).toEqual([]);
    }
  }, 120_000);

  it('with less than half of the size, which only the user can ask for, both do: the world sees it', () => {
    const spec = { mode: 'Sentinel', size: 6, failover: { minReplicasToWrite: 1 } } as const;
    const seen = NODES.flatMap((node) => cutOff(spec, node).violations);
    expect(seen.join(' ')).toContain('two primaries took writes');
  }, 120_000);
});
