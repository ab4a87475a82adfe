import { describe, expect, it } from 'vitest';
import { isOldGo, parseDebianMirror, parseGoVersion } from './ensure-go.ts';

describe('the Go to build with', () => {
  it.each([
    ['go1.26.8\n', [1, 26]],
    ['go version go1.23.4 linux/amd64', [1, 23]],
    ['devel', undefined],
  ])('reads its version from %j', (text, expected) => {
    expect(parseGoVersion(text)).toEqual(expected);
  });

  it('is too old below 1.24', () => {
    expect(isOldGo([1, 23])).toBe(true);
    expect(isOldGo([1, 24])).toBe(false);
    expect(isOldGo([2, 0])).toBe(false);
  });
});

describe('the Debian mirror', () => {
  it.each([
    ['Types: deb\n# old\nURIs: http://mirror.example/debian\nSuites: bookworm\n', 'http://mirror.example/debian'],
    ['deb http://mirror.example/debian bookworm main\n', 'http://mirror.example/debian'],
    ['deb [signed-by=/k.gpg] http://mirror.example/debian bookworm main\n', 'http://mirror.example/debian'],
    ['# nothing\n', undefined],
  ])('is read from both forms of sources', (text, expected) => {
    expect(parseDebianMirror(text)).toBe(expected);
  });
});
