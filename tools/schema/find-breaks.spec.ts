import { describe, expect, it } from 'vitest';
import { findBreaks } from './find-breaks.ts';

const released = 'type Query { hub(name: String): String } input I { a: Int } enum E { X }';

describe('the compatibility of the API', () => {
  it.each([
    ['a removed field', 'type Query { other: String } input I { a: Int } enum E { X }', /Query.hub was removed/],
    [
      'a new required argument',
      'type Query { hub(name: String, b: Int!): String } input I { a: Int } enum E { X }',
      /required arg b/,
    ],
    [
      'a stricter argument',
      'type Query { hub(name: String!): String } input I { a: Int } enum E { X }',
      /changed type/,
    ],
    [
      'a new required input field',
      'type Query { hub(name: String): String } input I { a: Int, b: Int! } enum E { X }',
      /required field b/,
    ],
    [
      'a removed enum value',
      'type Query { hub(name: String): String } input I { a: Int } enum E { Y }',
      /X was removed/,
    ],
    ['a nullable answer', 'type Query { hub: String }', /removed/],
  ])('breaks on %s', (_what, current, finding) => {
    expect(findBreaks(released, current).join(' ')).toMatch(finding);
  });
  it('holds for additions', () => {
    const current =
      'type Query { hub(name: String, b: Int = 1): String more: Int } input I { a: Int, b: Int } enum E { X Y }';
    expect(findBreaks(released, current)).toEqual([]);
  });
  it('holds for an answer that may be a larger whole number, and for no input', () => {
    const small = 'type Query { a(b: Int): Int c: Int! } input I { d: Int } scalar Long';
    const wide = 'type Query { a(b: Int): Long c: Long! } input I { d: Int } scalar Long';
    expect(findBreaks(small, wide)).toEqual([]);
    expect(findBreaks(wide, small)).toHaveLength(2);
    const inputs = 'type Query { a(b: Long): Int c: Int! } input I { d: Long } scalar Long';
    expect(findBreaks(small, inputs)).toHaveLength(2);
  });
});
