import { describe, expect, it } from 'vitest';
import { listChangedFields } from './changed-fields.rules.ts';

describe('changed fields', () => {
  it.each([
    ['nothing', { size: 3 }, { size: 3 }, []],
    ['a value', { size: 3, mode: 'Sentinel' }, { size: 5, mode: 'Sentinel' }, ['spec.size']],
    [
      'a key of a map',
      { config: { a: '1', b: '2' } },
      { config: { a: '1', c: '2' } },
      ['spec.config.b', 'spec.config.c'],
    ],
    ['a whole branch', {}, { storage: { type: 'Ephemeral' } }, ['spec.storage']],
    ['the order of keys, which is nothing', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, []],
  ])('%s', (_what, before, after, expected) => {
    expect(listChangedFields(before, after)).toEqual(expected);
  });
});
