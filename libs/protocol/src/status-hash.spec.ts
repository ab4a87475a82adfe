import { describe, expect, it } from 'vitest';
import type { StatusItem } from './messages.ts';
import { EMPTY_DIGEST } from './digest.ts';
import { itemHash, statusDigestOf, statusHash } from './status-hash.ts';

const item: StatusItem = {
  hubUid: 'u1',
  namespace: 'shop',
  name: 'cart',
  uid: 'k1',
  kind: 'RedisCluster',
  observedHubGeneration: 3,
  phase: 'Ready',
  conditions: [],
  pods: [],
  foreignFields: [],
};

describe('statusHash', () => {
  it('does not move with the numbers', () => {
    expect(statusHash({ ...item, numbers: { keys: 1 } })).toBe(statusHash({ ...item, numbers: { keys: 2 } }));
    expect(statusHash({ ...item, numbers: { keys: 1 } })).toBe(statusHash(item));
  });

  it('does not move with details, which a hub of before ignores', () => {
    expect(statusHash({ ...item, details: { capabilities: ['x'] } })).toBe(statusHash(item));
  });

  it('moves with every state', () => {
    const others: StatusItem[] = [
      { ...item, phase: 'Degraded' },
      { ...item, terminating: true },
      { ...item, foreignFields: [{ path: 'spec.size', manager: 'kubectl', liveValue: '5' }] },
      { ...item, pods: [{ name: 'p', role: 'primary', ready: true }] },
    ];
    expect(new Set([item, ...others].map(statusHash)).size).toBe(others.length + 1);
  });
});

describe('itemHash', () => {
  it('moves with details, not with numbers, and not with itself', () => {
    const hash = itemHash(item);
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(itemHash({ ...item, numbers: { keys: 1 } })).toBe(hash);
    expect(itemHash({ ...item, hash })).toBe(hash);
    const others: StatusItem[] = [
      { ...item, details: { capabilities: ['x'] } },
      { ...item, name: 'copy' },
      { ...item, uid: 'k2' },
      { ...item, observedHubGeneration: 4 },
      { ...item, unclaimed: true },
    ];
    expect(new Set([item, ...others].map(itemHash)).size).toBe(others.length + 1);
  });

  it('sums up without an order, and nothing to nothing', () => {
    const [a, b] = [itemHash(item), itemHash({ ...item, name: 'other' })];
    expect(statusDigestOf([a, b])).toBe(statusDigestOf([b, a]));
    expect(statusDigestOf([a, b])).not.toBe(statusDigestOf([a]));
    expect(statusDigestOf([])).toBe(EMPTY_DIGEST);
    expect(statusDigestOf([a, EMPTY_DIGEST])).toBe(a);
  });
});
