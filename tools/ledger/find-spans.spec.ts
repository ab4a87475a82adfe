import { describe, expect, it } from 'vitest';
import { findSpans } from './find-spans.ts';

describe('spans of lost writes', () => {
  it('puts moments together that are at most a second apart, in whatever order they come', () => {
    expect(findSpans([5_000, 100, 0, 1_100, 2_101])).toEqual([
      { fromMs: 0, toMs: 1_100, count: 3 },
      { fromMs: 2_101, toMs: 2_101, count: 1 },
      { fromMs: 5_000, toMs: 5_000, count: 1 },
    ]);
    expect(findSpans([])).toEqual([]);
  });
});
