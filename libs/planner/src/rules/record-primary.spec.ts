import { describe, expect, it } from 'vitest';
import type { DataSetRecord, RedisClusterSnapshot } from '#domain';
import { drawSettled, NOW_MS } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const settled = drawSettled();
const written = (snapshot: RedisClusterSnapshot): DataSetRecord | undefined =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY }).actions.find(
    (action) => action.kind === 'WriteRecord',
  )?.record;

/** The record that is written when the primary runs `engine version` and `before` was known. */
const recordAfter = (
  before: Partial<DataSetRecord>,
  engine: 'Redis' | 'Valkey',
  version: string,
): DataSetRecord | undefined => {
  const redis = Object.fromEntries(
    Object.entries(settled.redis).map(([pod, facts]) => [pod, facts.reachable ? { ...facts, engine, version } : facts]),
  );
  return written({ ...settled, redis, record: { ...settled.record!, ...before } });
};

describe('what a primary has run', () => {
  it('only rises within an engine', () => {
    expect(recordAfter({ primaryVersion: '8.0.2' }, 'Redis', '8.0.4')).toMatchObject({ primaryVersion: '8.0.4' });
    expect(recordAfter({ primaryVersion: '8.0.4' }, 'Redis', '8.0.2')).toBeUndefined();
  });

  it('follows the engine, whose numbers may be lower', () => {
    const record = recordAfter({ primaryVersion: '8.1.1', primaryEngine: 'Valkey' }, 'Redis', '8.0.2');
    expect(record).toMatchObject({ primaryVersion: '8.0.2', primaryEngine: 'Redis' });
  });

  it('is completed where an older agent recorded no engine', () => {
    const { primaryEngine: _, ...old } = settled.record!;
    expect(written({ ...settled, record: old })).toMatchObject({ primaryVersion: '8.0.2', primaryEngine: 'Redis' });
  });
});
