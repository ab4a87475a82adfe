import { describe, expect, it } from 'vitest';
import { showSafely } from './shown-text.ts';

describe('a text that somebody else chose', () => {
  it.each([
    ['is shown as it is in printable ASCII', 'kubeSystemUid:0f-1 a+b', 'kubeSystemUid:0f-1 a+b'],
    ['shows control characters by number', 'a\u0007b\nc', 'a\\u{7}b\\u{a}c'],
    ['shows a mark that turns the direction', 'abc\u202edef', 'abc\\u{202e}def'],
    ['shows letters of other scripts', 'kubе', 'kub\\u{435}'],
    ['shows a space that has no width', 'a\u200bb', 'a\\u{200b}b'],
    ['is the same when it was written so before', 'a\\u{7}', 'a\\u{7}'],
    ['shows characters of four bytes', '🦄', '\\u{1f984}'],
    ['is cut', 'x'.repeat(300), `${'x'.repeat(256)}…`],
  ])('%s', (_what, text, shown) => {
    expect(showSafely(text)).toBe(shown);
  });

  it('is never long', () => {
    expect(showSafely('🦄'.repeat(100_000)).length).toBeLessThan(600);
  });
});
