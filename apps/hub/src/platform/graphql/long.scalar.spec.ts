import { describe, expect, it } from 'vitest';

import { GraphQLLong } from './long.scalar.ts';

describe('Long', () => {
  it('is a JSON number as far as those are exact', () => {
    expect([0, 2 ** 31, Number.MAX_SAFE_INTEGER].map((value) => GraphQLLong.serialize(value))).toEqual([
      0,
      2 ** 31,
      Number.MAX_SAFE_INTEGER,
    ]);
    for (const value of [1.5, 2 ** 53, '7', Number.NaN]) expect(() => GraphQLLong.serialize(value)).toThrow('integer');
  });
});
