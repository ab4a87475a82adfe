import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { playStory } from '#testing';
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
  playStory({ spec, seconds: 130, events: { 30: setCut(node, true), 90: setCut(node, false), ...events } }, plan);

const NODES = ['node-0', 'node-1', 'node-2'];

describe('a partition of a primary with some of its replicas', () => {
  it.each([4, 5, 6, 7])(
    'size %i: two sides never both take writes for longer than one needs to fence itself',
    (size) => {
      for (const mode of ['Sentinel', 'Replication'] as const) {
        for (const node of NODES) {
          const { violations, log } = cutOff({ mode, size }, node);
          expect(violations, log.join('\n')).toEqual([]);
        }
      }
    },
  );

  it('with less than half of the size, which only the user can ask for, both do: the world sees it', () => {
    const seen = NODES.flatMap(
      (node) => cutOff({ mode: 'Sentinel', size: 6, failover: { minReplicasToWrite: 1 } }, node).violations,
    );
    expect(seen.join(' ')).toContain('two primaries took writes');
  });
});
