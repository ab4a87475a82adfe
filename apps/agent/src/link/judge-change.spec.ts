import { ANNOTATION, FIELD_MANAGER } from '#domain';
import type { KubeObject } from '#domain';
import { buildUpsert } from '#testing';
import { describe, expect, it } from 'vitest';
import { CHANGE_WINDOW_MS, judgeChange } from './judge-change.ts';
import type { ChangeHistory } from './judge-change.ts';

const NOW_MS = Date.parse('2026-12-01T03:00:00Z');
const upsert = buildUpsert('u1', 2, { name: 'cart', size: 2 });
const live = (changes: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { namespace: 'shop', name: 'cart', uid: 'k1', ...changes },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3 },
});
const judge = (history: Partial<ChangeHistory> = {}, at = live(), change: Partial<typeof upsert> = {}) => {
  const sent = { ...upsert, ...change };
  return judgeChange({
    upsert: sent,
    live: at,
    spec: JSON.parse(sent.spec) as Record<string, unknown>,
    history: { recentChangesMs: new Map(), heldChanges: new Map(), isOfMass: false, nowMs: NOW_MS, ...history },
    limit: 2,
  });
};
const recent = (...agesMs: number[]) => ({
  recentChangesMs: new Map(agesMs.map((age, index) => [`other-${index}`, NOW_MS - age])),
});
const held = (specHash: string) => ({ heldChanges: new Map([['k1', { specHash }]]) });

describe('a destructive change of the hub', () => {
  it.each<[string, Partial<ChangeHistory>, string]>([
    ['below the limit counts', recent(1), 'COUNTS'],
    ['at the limit is held', recent(1, 2), 'HELD'],
    ['after five minutes counts', recent(1, CHANGE_WINDOW_MS), 'COUNTS'],
    ['is held when a clock that went back makes the others lie in the future', recent(-1_000, -2_000), 'HELD'],
    [
      'of an object that was counted already counts no second time',
      {
        recentChangesMs: new Map([
          ['k1', NOW_MS],
          ['x', NOW_MS],
        ]),
      },
      'COUNTS',
    ],
    ['of a mass is held', { isOfMass: true }, 'HELD'],
    ['that was held stays so when the others are long past', held(upsert.specHash), 'HELD'],
    ['is judged by itself when something else of it was held', held('e'.repeat(64)), 'COUNTS'],
  ])('%s', (_, history, kind) => {
    expect(judge(history).kind).toBe(kind);
  });

  it('goes through, uncounted, when a person let this very spec through', () => {
    const annotations = { [ANNOTATION.letThrough]: upsert.specHash };
    expect(judge({ isOfMass: true, ...held(upsert.specHash) }, live({ annotations })).kind).toBe('FREE');
    const other = { [ANNOTATION.letThrough]: 'e'.repeat(64) };
    expect(judge({ isOfMass: true }, live({ annotations: other })).kind).toBe('HELD');
  });

  it('says what it would do and the command that lets it through', () => {
    const verdict = judge({ isOfMass: true });
    const message = verdict.kind === 'HELD' ? verdict.message : '';
    expect(message).toContain('size 3 → 2');
    expect(message).toContain(`kubectl annotate arc -n shop cart ${ANNOTATION.letThrough}=${upsert.specHash}`);
    expect(message.length).toBeLessThan(1_000);
  });

  it('is none where somebody here has taken the field over, unless the hub takes it back', () => {
    const managedFields = [
      {
        manager: FIELD_MANAGER.link,
        operation: 'Apply' as const,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:mode': {} } },
      },
      {
        manager: 'kubectl-edit',
        operation: 'Update' as const,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:size': {} } },
      },
    ];
    const at = live({ managedFields });
    expect(judge({ isOfMass: true }, at).kind).toBe('FREE');
    expect(judge({ isOfMass: true }, at, { driftPolicy: 'Revert' }).kind).toBe('HELD');
    expect(judge({ isOfMass: true }, at, { revertFields: ['spec.size'] }).kind).toBe('HELD');
  });
});
