import type { StatusItem } from '#protocol';
import { describe, expect, it } from 'vitest';
import { boundItem, MAX_ITEM_BYTES } from './bound-item.rules.ts';

const item = (more: Partial<StatusItem> = {}): StatusItem => ({
  namespace: 'shop',
  name: 'cart',
  uid: 'u',
  kind: 'RedisCluster',
  phase: 'Ready',
  conditions: [],
  pods: [],
  foreignFields: [],
  ...more,
});
const large = 'x'.repeat(MAX_ITEM_BYTES);
const spec = (text: string): NonNullable<StatusItem['liveSpec']> => ({ mode: text }) as never;
const field = (text: string): StatusItem['foreignFields'] => [{ path: 'spec.size', manager: text }];
const pod = (text: string): StatusItem['pods'] => [{ name: text, role: 'primary', ready: true }];

describe('the status of one object', () => {
  it('is stored as it is up to 200 KiB', () => {
    const whole = item({ liveSpec: spec('x'.repeat(MAX_ITEM_BYTES - 1_024)) });
    expect(boundItem(whole)).toEqual({ item: whole, shed: [] });
  });

  it.each([
    ['its spec', { liveSpec: spec(large), pods: pod('a') }, ['liveSpec']],
    [
      'the fields of others, though the spec goes first',
      { liveSpec: spec('s'), foreignFields: field(large) },
      ['liveSpec', 'foreignFields'],
    ],
    ['its pods', { pods: pod(large) }, ['pods']],
    ['its endpoints', { endpoints: { a: large }, pods: pod('a') }, ['endpoints']],
    ['its numbers', { numbers: { [large]: 1 } }, ['numbers']],
    [
      'its conditions',
      {
        conditions: [
          { type: 'Ready', status: 'True', reason: '', message: large, observedGeneration: 1, lastTransitionTime: '' },
        ],
      },
      ['conditions'],
    ],
  ] as const)('is stored without %s when that is too large, and says so', (_what, more, shed) => {
    const bound = boundItem(item(more));
    expect(bound.shed).toEqual(shed);
    expect(bound.item).toMatchObject({ namespace: 'shop', name: 'cart', phase: 'Ready' });
    expect(bound.item.conditions.at(-1)).toMatchObject({ reason: 'TooLarge', status: 'True' });
    expect(Buffer.byteLength(JSON.stringify(bound.item))).toBeLessThan(MAX_ITEM_BYTES);
  });
});
