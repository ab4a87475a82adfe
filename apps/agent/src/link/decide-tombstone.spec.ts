import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import type { Tombstone } from '#protocol';
import { agentLimits } from '#testing';
import { describe, expect, it } from 'vitest';
import { decideTombstone } from './decide-tombstone.ts';
import type { TombstoneDecision, TombstoneQuestion } from './decide-tombstone.ts';

const NOW = Date.parse('2026-11-30T05:00:00Z');
const tombstone: Tombstone = {
  hubUid: 'u1',
  namespace: 'shop',
  name: 'cart',
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  operation: 'DELETE',
};
const live = (hubUid?: string, deletionTimestamp?: string): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    namespace: 'shop',
    name: 'cart',
    uid: 'k1',
    annotations: hubUid === undefined ? {} : { [ANNOTATION.hubUid]: hubUid },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
});
const decide = (changes: Partial<TombstoneQuestion> = {}): TombstoneDecision =>
  decideTombstone({
    tombstone,
    live: live('u1'),
    bounds: {
      scope: { kind: 'CLUSTER' },
      namespace: 'atoll-system',
      limits: agentLimits(),
    },
    recentDeletesMs: [],
    nowMs: NOW,
    isOfMass: false,
    carriedOut: undefined,
    isReplaced: false,
    ...changes,
  });
const text = (decision: TombstoneDecision): string =>
  decision.kind === 'OUTCOME' ? `${decision.outcome.state} ${decision.outcome.code ?? ''}`.trim() : decision.kind;
const approval = { id: 'op', hubUids: ['u1'], expiresAt: '2026-11-30T05:10:00Z' };
const full = [NOW - 1000, NOW - 2000, NOW - 3000];

describe('a tombstone', () => {
  it('deletes the object that carries its hubUid', () => {
    expect(decide()).toMatchObject({ kind: 'DELETE', counts: true });
    expect(text(decide({ tombstone: { ...tombstone, operation: 'ORPHAN' } }))).toBe('ORPHAN');
  });

  it('touches no other object, and is done when its own is not there', () => {
    for (const other of [undefined, live(), live('u2')]) {
      const decision = decide({ live: other });
      expect(text(decision)).toBe('DELETED');
      expect(decision).toMatchObject({ remember: true });
      expect(text(decide({ live: other, tombstone: { ...tombstone, operation: 'ORPHAN' } }))).toBe('ORPHANED');
    }
  });

  it('waits, remembered, while finalizers run', () => {
    const decision = decide({ live: live('u1', '2026-11-30T04:59:00Z'), recentDeletesMs: full });
    expect(text(decision)).toBe('WAITING');
    expect(decision).toMatchObject({ remember: true });
  });

  it('is refused, and not remembered, where the values accept no deletes', () => {
    const limits = agentLimits({ acceptDeletes: false });
    const decision = decide({ bounds: { scope: { kind: 'CLUSTER' }, namespace: 'atoll-system', limits } });
    expect(text(decision)).toBe('REJECTED NOT_PERMITTED_HERE');
    expect(decision).toMatchObject({ remember: false, outcome: { retryable: false } });
  });

  it('is held back after three deletes within five minutes, and goes on later', () => {
    const decision = decide({ recentDeletesMs: full });
    expect(text(decision)).toBe('REJECTED DELETE_BREAKER');
    expect(decision).toMatchObject({ remember: false, outcome: { retryable: true } });
    expect(text(decide({ recentDeletesMs: full, nowMs: NOW + 5 * 60_000 }))).toBe('DELETE');
  });

  it('passes the breaker with an approval of this very object, until that expires', () => {
    const question = { recentDeletesMs: full };
    expect(decide({ ...question, tombstone: { ...tombstone, approval } })).toMatchObject({
      kind: 'DELETE',
      counts: false,
    });
  });

  it.each([
    ['is about other objects', { hubUids: ['u2'] }, 'REJECTED DELETE_APPROVAL_INVALID'],
    ['has expired', { expiresAt: '2026-11-30T04:59:59Z' }, 'REJECTED DELETE_APPROVAL_EXPIRED'],
    ['has no readable end', { expiresAt: 'soon' }, 'REJECTED DELETE_APPROVAL_EXPIRED'],
  ])('is refused for good with an approval that %s, whatever the limit leaves', (_, changes, expected) => {
    for (const recentDeletesMs of [full, []]) {
      const decision = decide({ recentDeletesMs, tombstone: { ...tombstone, approval: { ...approval, ...changes } } });
      expect(text(decision)).toBe(expected);
      expect(decision).toMatchObject({ remember: false, outcome: { retryable: false } });
    }
  });

  it('keeps what was put back after it was carried out, until that is approved anew', () => {
    expect(text(decide({ carriedOut: {} }))).toBe('REJECTED DELETED_OBJECT_IS_BACK');
    const approved = { ...tombstone, approval };
    expect(text(decide({ carriedOut: {}, tombstone: approved }))).toBe('DELETE');
    expect(text(decide({ carriedOut: { approvalId: 'op' }, tombstone: approved }))).toBe(
      'REJECTED DELETED_OBJECT_IS_BACK',
    );
    expect(text(decide({ carriedOut: { approvalId: 'another' }, tombstone: approved }))).toBe('DELETE');
    expect(text(decide({ carriedOut: {}, live: live('u1', '2026-11-30T04:59:00Z') }))).toBe('WAITING');
  });

  it('deletes no other object than the one that its delete was asked for, approved or not', () => {
    for (const changes of [{}, { approval }]) {
      const meant = { ...tombstone, ...changes, uids: ['k0', 'k1'] };
      expect(text(decide({ tombstone: meant }))).toBe('DELETE');
      const decision = decide({ tombstone: { ...meant, uids: ['k0'] } });
      expect(text(decision)).toBe('REJECTED DELETED_OBJECT_IS_BACK');
      // Remembered: a hub that names no uids is kept from it as well; told: an approval to come can name it.
      expect(decision).toMatchObject({ remember: true, outcome: { uid: 'k1', retryable: false } });
    }
  });

  it('keeps what was put back with the uid that it had, as a cluster restored as a whole, until that is approved anew', () => {
    expect(text(decide({ carriedOut: {}, tombstone: { ...tombstone, uids: ['k1'] } }))).toBe(
      'REJECTED DELETED_OBJECT_IS_BACK',
    );
    expect(text(decide({ carriedOut: {}, tombstone: { ...tombstone, uids: ['k1'], approval } }))).toBe('DELETE');
  });

  it('is done when its own object is not there, and lets another one go: that destroys nothing', () => {
    const meant = { ...tombstone, uids: ['k0'] };
    expect(text(decide({ tombstone: meant, live: undefined }))).toBe('DELETED');
    expect(text(decide({ tombstone: { ...meant, operation: 'ORPHAN' } }))).toBe('ORPHAN');
  });

  it('keeps what took the place of the object that was looked at', () => {
    const decision = decide({ isReplaced: true, tombstone: { ...tombstone, approval } });
    expect(text(decision)).toBe('REJECTED DELETED_OBJECT_IS_BACK');
    // So that the same tombstone keeps it in the next session too.
    expect(decision).toMatchObject({ remember: true });
  });

  it('lets go without counting as a delete', () => {
    const orphan = { ...tombstone, operation: 'ORPHAN' as const };
    expect(text(decide({ tombstone: orphan, recentDeletesMs: full }))).toBe('ORPHAN');
  });
});
