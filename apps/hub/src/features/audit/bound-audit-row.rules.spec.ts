import { describe, expect, it } from 'vitest';
import { boundDocument, boundTarget, MOST_DOCUMENT_BYTES, MOST_TARGET_BYTES } from './bound-audit-row.rules.ts';

describe('what one row of the audit may take', () => {
  it.each(['x', 'ä', '€', '😀'])(
    'a target of any number of %s fits its bytes, and stays well-formed text',
    (character) => {
      for (const length of [1, 127, 128, 170, 171, 255, 256, 511, 512, 513, 5_000]) {
        const whole = character.repeat(length);
        const bound = boundTarget(whole) ?? '';
        expect(Buffer.byteLength(bound)).toBeLessThanOrEqual(MOST_TARGET_BYTES);
        expect(bound.isWellFormed()).toBe(true);
        if (Buffer.byteLength(whole) <= MOST_TARGET_BYTES) expect(bound).toBe(whole);
        else expect(bound).toMatch(/^.+…$/u);
      }
    },
  );

  it('a document that fits is kept as it is', () => {
    expect(boundDocument({ spec: { size: 3 } })).toBe('{"spec":{"size":3}}');
    expect([boundDocument(null), boundDocument(undefined)]).toEqual([null, null]);
  });

  it('a document that does not fit is known by its size and its hash', () => {
    const text = boundDocument({ generation: 3, spec: 'x'.repeat(MOST_DOCUMENT_BYTES) }) ?? '';
    expect(JSON.parse(text)).toEqual({
      tooLarge: { bytes: 65_562, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    });
  });
});
