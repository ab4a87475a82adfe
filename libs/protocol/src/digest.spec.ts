import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addToDigest, digestOf, EMPTY_DIGEST, isDigest, removeFromDigest } from './digest.ts';

const entry = fc.record({
  hubUid: fc.uuid(),
  hubGeneration: fc.integer({ min: 1, max: 1_000_000 }),
  specHash: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
});
const entries = fc.uniqueArray(entry, { maxLength: 12, selector: (one) => `${one.hubUid}|${one.hubGeneration}` });

describe('digest', () => {
  it('is the sum modulo 2^128 of the SHA-256 of each entry', () => {
    fc.assert(
      fc.property(entries, (set) => {
        const sum = set.reduce((total, one) => {
          const text = `${one.hubUid}|${one.hubGeneration}|${one.specHash}`;
          return total + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
        }, 0n);
        expect(BigInt(`0x${digestOf(set)}`)).toBe(sum % (1n << 128n));
      }),
    );
  });

  it('does not depend on the order of changes', () => {
    fc.assert(
      fc.property(entries, (set) => {
        const forwards = set.reduce(addToDigest, EMPTY_DIGEST);
        const backwards = [...set].reverse().reduce(addToDigest, EMPTY_DIGEST);
        expect(forwards).toBe(backwards);
        expect(forwards).toBe(digestOf(set));
        expect(isDigest(forwards)).toBe(true);
      }),
    );
  });

  it('forgets an entry that is removed', () => {
    fc.assert(
      fc.property(entries, entry, (set, extra) => {
        const before = digestOf(set);
        expect(removeFromDigest(addToDigest(before, extra), extra)).toBe(before);
      }),
    );
  });

  it('tells an object from its next generation and from another hash', () => {
    const one = { hubUid: 'a', hubGeneration: 1, specHash: 'x' };
    const digests = [one, { ...one, hubGeneration: 2 }, { ...one, specHash: 'y' }].map((each) => digestOf([each]));
    expect(new Set(digests).size).toBe(3);
  });

  it('refuses a text that is no digest', () => {
    expect(() => addToDigest('12', { hubUid: 'a', hubGeneration: 1, specHash: 'x' })).toThrow(TypeError);
  });
});
