import { describe, expect, it } from 'vitest';

import { compareObject, findUnknown, type WantedRow } from './inventory.rules.ts';

const wanted: WantedRow = {
  hubUid: 'u',
  hubGeneration: 3,
  specHash: 'h3',
  deletion: null,
  createAllowed: false,
  state: 'APPLIED',
};
const held = { hubUid: 'u', hubGeneration: 3, specHash: 'h3', namespace: 'n', name: 'x', unclaimed: false };

describe('the three-way diff', () => {
  it.each([
    ['in sync', wanted, held, { kind: 'IN_SYNC', applied: { generation: 3, hash: 'h3' } }],
    [
      'behind',
      wanted,
      { ...held, hubGeneration: 2, specHash: 'h2' },
      { kind: 'BEHIND', applied: { generation: 2, hash: 'h2' } },
    ],
    ['ahead of a restored hub', wanted, { ...held, hubGeneration: 5 }, { kind: 'AHEAD', generation: 5 }],
    [
      'of a generation that nobody could count on from',
      wanted,
      { ...held, hubGeneration: Number.MAX_SAFE_INTEGER },
      { kind: 'AHEAD', generation: 2 ** 51 },
    ],
    ['of the same generation and another spec', wanted, { ...held, specHash: 'x' }, { kind: 'AHEAD', generation: 3 }],
    ['gone', wanted, undefined, { kind: 'DELETED_LOCALLY', applied: null }],
    ['never made', { ...wanted, createAllowed: true }, undefined, { kind: 'TO_CREATE', applied: null }],
    ['waiting for its tombstone', { ...wanted, deletion: 'DELETE' }, held, { kind: 'TO_DELETE' }],
    ['unclaimed, which no digest counts', wanted, { ...held, unclaimed: true }, { kind: 'IN_SYNC', applied: null }],
  ] as const)('finds an object %s', (_, row, object, verdict) => {
    expect(compareObject(row, object)).toMatchObject(verdict);
  });

  it('lists what this hub does not want and touches it not', () => {
    const other = { ...held, hubUid: 'v' };
    expect(findUnknown([wanted], [held, other])).toEqual([other]);
  });
});
