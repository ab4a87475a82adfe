import { describe, expect, it } from 'vitest';
import { decideSync, type SyncFacts } from './sync-state.rules.ts';

const settled: SyncFacts = {
  deletion: null,
  deliveryState: 'APPLIED',
  deliveryIsCurrent: true,
  gone: false,
  createAllowed: false,
  driftCount: 0,
};

describe('sync', () => {
  it.each([
    ['applied and unchanged', {}, 'IN_SYNC'],
    ['applied, then edited by a person', { driftCount: 1 }, 'DRIFTED'],
    ['applied except contested fields', { deliveryState: 'CONFLICT', driftCount: 1 }, 'DRIFTED'],
    ['contested fields that hold the wanted value', { deliveryState: 'CONFLICT' }, 'CONFLICT'],
    ['not answered yet', { deliveryState: 'PENDING' }, 'PENDING'],
    ['an answer about an older generation', { deliveryIsCurrent: false }, 'PENDING'],
    ['a pending change of a drifted object', { deliveryState: 'PENDING', driftCount: 1 }, 'PENDING'],
    ['refused', { deliveryState: 'REJECTED', driftCount: 1 }, 'REJECTED'],
    ['waiting for its name', { deliveryState: 'WAITING' }, 'WAITING'],
    ['deleted by hand', { gone: true }, 'DELETED_LOCALLY'],
    ['deleted by hand, with a change under way', { gone: true, deliveryState: 'PENDING' }, 'DELETED_LOCALLY'],
    ['deleted by hand, as the agent answered', { deliveryState: 'DELETED_LOCALLY' }, 'DELETED_LOCALLY'],
    ['being recreated', { gone: true, createAllowed: true, deliveryState: 'PENDING' }, 'PENDING'],
    ['being deleted, whatever else', { deletion: 'DELETE', driftCount: 1, gone: true }, 'DELETING'],
  ] as const)('%s', (_what, facts, expected) => {
    expect(decideSync({ ...settled, ...facts })).toBe(expected);
  });
});
