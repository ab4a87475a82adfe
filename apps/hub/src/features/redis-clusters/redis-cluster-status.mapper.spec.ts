import { describe, expect, it } from 'vitest';
import type { RedisClusterStatusRow } from './redis-cluster.entity.ts';
import { toRedisClusterStatus } from './redis-cluster-status.mapper.ts';

const row: RedisClusterStatusRow = {
  hub_uid: 'u',
  observed_hub_generation: 2,
  phase: 'Ready',
  mode: 'Sentinel',
  engine_version: '8.0.2',
  size: 3,
  ready_pods: 3,
  current_primary: 'cache-0',
  primary_term: 1,
  endpoints: {},
  pods: [],
  conditions: [],
  numbers: {},
  details: {},
  data_set_id: 'u',
  reported_at: new Date(1_000),
  freshness: 'FRESH',
  inventory: 'SYNCED',
};

describe('the status that the API shows', () => {
  it.each([
    ['FRESH', 'SYNCED', false],
    ['LATE', 'SYNCED', true],
    ['UNKNOWN', 'SYNCED', true],
    ['FRESH', 'UNKNOWN', true],
  ] as const)(
    'of an agent that is %s and whose inventory is %s is last known: %s',
    (freshness, inventory, expected) => {
      expect(toRedisClusterStatus({ ...row, freshness, inventory }, 3_500)).toMatchObject({
        freshness,
        lastKnown: expected,
        ageSeconds: 2.5,
      });
    },
  );
  it('has no phase where a newer agent says a word that this hub does not know', () => {
    expect(toRedisClusterStatus({ ...row, phase: 'Hibernated' }, 1_000).phase).toBe('Hibernated');
    expect(toRedisClusterStatus({ ...row, phase: 'Pondering' }, 1_000).phase).toBeNull();
  });
  it('shows a condition of a newer agent as it is', () => {
    const condition = {
      type: 'CertificatesValid',
      status: 'True',
      reason: 'New',
      message: 'Of a later release.',
      observedGeneration: 1,
      lastTransitionTime: '2026-11-30T00:00:00Z',
    };
    const conditions = [condition as unknown as (typeof row.conditions)[number]];
    expect(toRedisClusterStatus({ ...row, conditions }, 1_000).conditions).toMatchObject([
      { type: 'CertificatesValid', status: 'True', message: 'Of a later release.' },
    ]);
  });
  it('is never younger than now, whatever the clocks say', () => {
    expect(toRedisClusterStatus(row, 500).ageSeconds).toBe(0);
  });
});
