import { describe, expect, it } from 'vitest';

import type { RedisClusterSpec } from '#domain';
import { checkSpecChange, findWrittenGeneration } from './spec-change.rules.ts';

const before: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3 };

describe('the generation that a change is measured against', () => {
  it.each([
    ['the applied one, though a newer was refused', { applied_generation: 1, delivery_state: 'REJECTED' }, 1],
    ['the applied one, though a newer is on its way', { applied_generation: 2, delivery_state: 'PENDING' }, 2],
    ['the stored one while nobody has answered', { applied_generation: null, delivery_state: 'PENDING' }, 3],
    ['none after a refusal from the start', { applied_generation: null, delivery_state: 'REJECTED' }, undefined],
    ['none while the name is taken', { applied_generation: null, delivery_state: 'WAITING' }, undefined],
  ] as const)('is %s', (_, row, generation) => {
    expect(findWrittenGeneration({ hub_generation: 3, ...row })).toBe(generation);
  });
});

describe('checkSpecChange', () => {
  it.each<[string, Partial<RedisClusterSpec>]>([
    ['the size, both ways', { size: 1 + 1, sentinel: { replicas: 5 } }],
    ['the mode', { mode: 'Standalone', size: 1 }],
    [
      'the engine, which the agent judges by what the data were written by',
      { engine: { type: 'Valkey', version: '8.1' } },
    ],
    ['persistence', { persistence: { enabled: true } }],
    ['a default that was left out', { storage: { type: 'Ephemeral' } }],
  ])('takes a change of %s', (_, change) => {
    expect(checkSpecChange(before, { ...before, ...change }).ok).toBe(true);
  });

  it('points at each field that may not', () => {
    const storage = { type: 'PersistentVolume', size: '2Gi', storageClassName: 'fast' } as const;
    const after: RedisClusterSpec = { ...before, storage: { ...storage, size: '1Gi', storageClassName: 'slow' } };
    expect(checkSpecChange({ ...before, storage }, after)).toMatchObject({
      ok: false,
      errors: [
        { code: 'INVALID_INPUT', field: ['input', 'spec', 'storage', 'storageClassName'], retryable: false },
        { code: 'INVALID_INPUT', field: ['input', 'spec', 'storage', 'size'] },
      ],
    });
  });
});
