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
  it('takes what may change', () => {
    const after: RedisClusterSpec = { ...before, size: 5, sentinel: { replicas: 3 }, storage: { type: 'Ephemeral' } };
    expect(checkSpecChange(before, after).ok).toBe(true);
  });

  it('points at each field that may not', () => {
    const after: RedisClusterSpec = { ...before, mode: 'Replication', engine: { type: 'Valkey', version: '8.0' } };
    expect(checkSpecChange(before, after)).toMatchObject({
      ok: false,
      errors: [
        { code: 'INVALID_INPUT', field: ['input', 'spec', 'engine', 'type'], retryable: false },
        { code: 'INVALID_INPUT', field: ['input', 'spec', 'mode'] },
      ],
    });
  });
});
