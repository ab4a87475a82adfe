import { describe, expect, it } from 'vitest';
import { drawSettled, NOW_MS } from '#testing';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';
import { planRedisCluster } from './plan-redis-cluster.ts';
describe('x', () => {
  it.each(['Standalone', 'Replication', 'Sentinel'] as const)('settled %s', (mode) => {
    const plan = planRedisCluster({ snapshot: drawSettled({ mode }), nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
    expect(plan.actions).toEqual([]);
    expect(plan.trail).toEqual([]);
    expect(plan.status.phase).toBe('Ready');
    if (mode === 'Sentinel') console.log(JSON.stringify(plan.status, null, 1));
  });
});
