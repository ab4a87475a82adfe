import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkBySize } from './chunk-by-size.ts';

describe('chunkBySize', () => {
  it('keeps every item once, in order, and every chunk of more than one item under the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 })), fc.integer({ min: 1, max: 200 }), (items, maxBytes) => {
        const chunks = chunkBySize(items, maxBytes);
        expect(chunks.flat()).toEqual(items);
        for (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThan(0);
          const bytes = Buffer.byteLength(JSON.stringify(chunk)) - 1;
          if (chunk.length > 1) expect(bytes).toBeLessThanOrEqual(maxBytes);
        }
      }),
    );
  });
});
