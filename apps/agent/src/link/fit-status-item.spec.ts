import { isReadableItem } from '#protocol';
import type { StatusItem } from '#protocol';
import { describe, expect, it } from 'vitest';
import { fitStatusItem } from './fit-status-item.ts';

const MAX_BYTES = 8_192;
const SINCE = '2026-01-01T00:00:00Z';
const item = (more: object = {}): StatusItem => ({
  hubUid: 'u1',
  namespace: 'shop',
  name: 'cart',
  uid: 'k1',
  kind: 'RedisCluster',
  phase: 'Ready',
  conditions: [],
  pods: [],
  foreignFields: [],
  ...more,
});
const field = { path: 'spec.size', manager: 'kubectl', liveValue: '3' };
const nested = (depth: number): object => (depth === 0 ? {} : { inner: nested(depth - 1) });

describe('a status item that the hub could not read', () => {
  it('is told as it is when it can be', () => {
    const whole = item({ liveSpec: { mode: 'Standalone' }, foreignFields: [field] });
    expect(fitStatusItem(whole, MAX_BYTES, SINCE)).toBe(whole);
  });

  it.each([
    ['a spec larger than a frame', { liveSpec: { config: { a: 'x'.repeat(MAX_BYTES) } }, foreignFields: [field] }],
    ['a spec nested too deeply', { liveSpec: nested(100), foreignFields: [field] }],
    [
      'a field with a name too long',
      { foreignFields: [{ ...field, path: `spec.config.${'k'.repeat(5_000)}` }, field] },
    ],
  ])('leaves out %s, says so, and keeps the rest', (_, more) => {
    const fitted = fitStatusItem(item(more), MAX_BYTES, SINCE);
    expect(fitted).toMatchObject({ phase: 'Ready', foreignFields: [field] });
    expect(fitted.liveSpec).toBeUndefined();
    expect(fitted.conditions).toMatchObject([{ type: 'ToldInPart', reason: 'TooLarge', lastTransitionTime: SINCE }]);
    expect(isReadableItem(fitted)).toBe(true);
  });

  it('tells of no field without its value, which would say that it was removed', () => {
    const large = { path: 'spec.users', manager: 'kubectl', liveValue: 'x'.repeat(MAX_BYTES) };
    expect(fitStatusItem(item({ foreignFields: [large, field] }), MAX_BYTES, SINCE).foreignFields).toEqual([field]);
  });

  it('keeps its states beside thousands of foreign fields', () => {
    const foreignFields = Array.from({ length: 1_000 }, (_, index) => ({ ...field, path: `spec.config.k${index}` }));
    const fitted = fitStatusItem(item({ foreignFields }), MAX_BYTES, SINCE);
    expect(fitted).toMatchObject({ phase: 'Ready', foreignFields: [] });
    expect(fitted.conditions).toHaveLength(1);
  });

  it('keeps its names at least', () => {
    const fitted = fitStatusItem(item({ phase: 'x'.repeat(600), unclaimed: true }), MAX_BYTES, SINCE);
    expect(fitted).toMatchObject({ hubUid: 'u1', namespace: 'shop', name: 'cart', uid: 'k1', unclaimed: true });
    expect(isReadableItem(fitted)).toBe(true);
  });
});
