import { describe, expect, it } from 'vitest';
import { CONDITION_TYPES } from '#domain';
import type { PlanResult, RedisClusterSnapshot, RedisClusterStatus } from '#domain';
import { DEFAULT_PLANNER_POLICY, planRedisCluster } from '#planner';
import { NOW_MS, computeKstatus, drawSettled, withResource, type KstatusResult } from '#testing';
import { mergeStatus } from './merge-status.ts';

const NOTHING: PlanResult = { done: [] };

const report = (
  snapshot: RedisClusterSnapshot,
  { last = snapshot.resource.status, nowMs = NOW_MS, failuresBefore = 0, result = NOTHING } = {},
): RedisClusterStatus => {
  const resource = last === undefined ? snapshot.resource : { ...snapshot.resource, status: last };
  const picture = { ...snapshot, resource, observedAtMs: nowMs };
  const plan = planRedisCluster({ snapshot: picture, nowMs, policy: DEFAULT_PLANNER_POLICY });
  const now = new Date(nowMs).toISOString();
  return mergeStatus({ resource, last, plan, result, failuresBefore, now });
};

const settled = drawSettled();
const [firstPod] = settled.pods;
const stuckImage: RedisClusterSnapshot = {
  ...settled,
  pods: settled.pods.map((pod) =>
    pod === firstPod ? { ...pod, ready: false, running: false, waitingReason: 'ErrImagePull: no such image' } : pod,
  ),
  redis: {
    ...settled.redis,
    ...(firstPod && { [firstPod.name]: { reachable: false, reason: 'REFUSED', message: 'refused' } as const }),
  },
};
const failure = {
  action: { kind: 'AddFinalizer', reason: 'x', message: 'x', disruptive: false },
  reason: 'AddFinalizerFailed',
  message: 'The API server refused it.',
} as const;

const PICTURES: readonly (readonly [name: string, status: () => RedisClusterStatus, expected: KstatusResult])[] = [
  ['settled', () => report(settled), 'Current'],
  ['new, without a pod', () => report({ ...settled, pods: [], redis: {}, sentinels: {} }), 'InProgress'],
  ['a pod that cannot start, just now', () => report(stuckImage, { last: report(settled) }), 'InProgress'],
  [
    'a pod that cannot start, for minutes',
    () => report(stuckImage, { last: report(stuckImage), nowMs: NOW_MS + 200_000 }),
    'Failed',
  ],
  ['suspended', () => report(drawSettled({ suspend: true })), 'Current'],
  [
    'a spec that is refused',
    () => report(withResource(settled, { spec: { ...settled.resource.spec, size: 1 } })),
    'Failed',
  ],
  ['an action that fails once', () => report(settled, { result: { done: [], failure } }), 'Current'],
  [
    'an action that fails again and again',
    () => report(settled, { result: { done: [], failure }, failuresBefore: 5 }),
    'Failed',
  ],
];

describe('kstatus of what is reported', () => {
  it.each(PICTURES)('%s', (_, status, expected) => {
    const made = status();
    expect(computeKstatus({ metadata: { generation: 1 }, status: made })).toBe(expected);
  });

  it('has each condition once, of the generation that was looked at, and never Ready beside Reconciling or Stalled', () => {
    for (const [name, status] of PICTURES) {
      const { conditions = [] } = status();
      expect(conditions.map(({ type }) => type).sort(), name).toEqual([...CONDITION_TYPES].sort());
      expect(
        conditions.every(({ observedGeneration }) => observedGeneration === 1),
        name,
      ).toBe(true);
      const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === 'True');
      expect(isTrue('Reconciling') && (isTrue('Stalled') || isTrue('Ready')), name).toBe(false);
    }
  });

  it.each([
    ['settled', settled],
    ['stuck', stuckImage],
  ])('stands still while the world does (%s): the same picture later gives the same status', (_, picture) => {
    const once = report(picture, { last: report(picture), nowMs: NOW_MS + 200_000 });
    expect(report(picture, { last: once, nowMs: NOW_MS + 500_000 })).toEqual(once);
  });
});
