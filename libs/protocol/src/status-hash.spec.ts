import { describe, expect, it } from 'vitest';
import type { StatusItem } from './messages.ts';
import { statusDigestEntry, statusHash } from './status-hash.ts';

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

  it('enters the digest by hubUid, or by the Kubernetes uid of an object that no hub pushed', () => {
    expect(statusDigestEntry(item)).toEqual({ hubUid: 'u1', hubGeneration: 3, specHash: statusHash(item) });
    const { hubUid: _, observedHubGeneration: __, ...handMade } = item;
    expect(statusDigestEntry(handMade)).toMatchObject({ hubUid: 'uid:k1', hubGeneration: 0 });
  });
});
