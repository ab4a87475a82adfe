import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineSplitter } from './split-lines.ts';

/** Cuts bytes at the given places, as TCP may. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...cuts, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : cuts[index - 1], end));
}

describe('cutting a byte stream into lines', () => {
  it('gives the same lines however the bytes are cut, characters of several bytes included', () => {
    const line = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter((text) => !/[\n\r]/.test(text) && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(10_000)), (lines, places) => {
        const splitter = createLineSplitter();
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''), 'utf8');
        expect(cutAt(bytes, places).flatMap((chunk) => splitter.push(chunk))).toEqual(lines);
        expect(splitter.pendingBytes).toBe(0);
      }),
    );
  });

  it('keeps an unfinished line for the next chunk and counts its bytes', () => {
    const splitter = createLineSplitter();
    expect(splitter.push(Buffer.from('{"a":1}\n{"b"'))).toEqual(['{"a":1}']);
    expect(splitter.pendingBytes).toBe(4);
    expect(splitter.push(Buffer.from(':2}\n'))).toEqual(['{"b":2}']);
  });

  it('does not notice when the memory of a chunk is used again', () => {
    const splitter = createLineSplitter();
    const memory = Buffer.from('first');
    splitter.push(memory);
    memory.fill('x');
    expect(splitter.push(Buffer.from('\n'))).toEqual(['first']);
  });

  it('drops empty lines', () => {
    expect(createLineSplitter().push(Buffer.from('\n\r\na\n\n'))).toEqual(['a']);
  });
});
