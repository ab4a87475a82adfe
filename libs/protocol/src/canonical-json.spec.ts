import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, freezeSpec, specHash } from './canonical-json.ts';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
}

describe('canonicalJson', () => {
  it('gives the text of RFC 8785, section 3.2.2', () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('is the same for the same value in another order of keys, and means the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (raw) => {
        const value: unknown = JSON.parse(JSON.stringify(raw));
        const text = canonicalJson(value);
        expect(canonicalJson(shuffled(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(value);
      }),
    );
  });

  it('refuses what JSON cannot hold', () => {
    expect(() => canonicalJson(undefined)).toThrow(TypeError);
    expect(() => canonicalJson({ size: Number.NaN })).toThrow();
  });

  it('freezes a spec into the text and the hash of exactly that text', () => {
    const frozen = freezeSpec({ size: 3, mode: 'Sentinel' });
    expect(frozen.text).toBe('{"mode":"Sentinel","size":3}');
    expect(frozen.hash).toBe(specHash(frozen.text));
    expect(frozen.hash).toMatch(/^[0-9a-f]{64}$/);
  });
});
