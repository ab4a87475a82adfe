import { describe, expect, it } from 'vitest';
import { readBearerToken } from '../../platform/auth/index.ts';
import { parseAdminToken } from './parse-admin-token.rules.ts';

const TOKEN = 'abcdefgh-ABC.0123_~+/=';
const parse = (text: string): ReturnType<typeof parseAdminToken> => parseAdminToken(Buffer.from(text, 'utf8'));

describe("the file with the administrator's token", () => {
  it.each([
    ['as it is', TOKEN],
    ['with a line break at its end', `${TOKEN}\n`],
    ['with a line break of Windows', `${TOKEN}\r\n`],
    ['with a byte order mark', `\uFEFF${TOKEN}\r\n`],
    ['with blank lines and spaces around', `\n  ${TOKEN}\t\r\n\n`],
  ])('is taken %s', (_, text) => {
    expect(parse(text)).toEqual({ ok: true, token: TOKEN });
  });

  it('takes the shortest and the longest token that a request may carry', () => {
    for (const length of [16, 512]) {
      const token = 'x'.repeat(length);
      expect(parse(token)).toEqual({ ok: true, token });
      expect(readBearerToken(`Bearer ${token}`)).toBe(token);
    }
  });

  it.each([
    ['nothing', '', 'is empty'],
    ['line breaks alone', '\r\n\n', 'is empty'],
    ['a byte order mark alone', '\uFEFF', 'is empty'],
    ['a token that is too short', 'short', 'the token has 5 characters; it must have at least 16 characters'],
    ['a token that is too long', 'x'.repeat(513), 'the token has 513 characters; it must have at most 512 characters'],
    ['much more than a token', 'x'.repeat(5_000), 'has 5000 bytes; a token has 512 at most'],
    ['two lines', `${TOKEN}\n${TOKEN}`, 'line 1, character 23: the line ends within the token'],
    ['two lines of Windows', `${TOKEN}\r\n${TOKEN}`, 'line 1, character 23: the line ends within the token'],
    ['a space', 'abcdefgh ijklmnop', 'line 1, character 9: a space within the token'],
    ['a header', `Bearer ${TOKEN}`, 'line 1, character 7: a space within the token'],
    ['a quotation mark, after a blank line', `\n"${TOKEN}"`, 'line 2, character 1: a quotation mark'],
    [
      'a letter outside of ASCII, after one that takes two units',
      `abcdefghijklmnop€`,
      'line 1, character 17: a character outside of ASCII',
    ],
    ['an emoji', `😀${TOKEN}`, 'line 1, character 1: a character outside of ASCII'],
    ['a NUL', `${TOKEN}\0x`, 'line 1, character 23: a control character'],
    ['a zero-width space', `${TOKEN}\u200b`, 'line 1, character 23: a control character'],
    ['a no-break space at its end', `${TOKEN}\u00a0`, 'line 1, character 23: a character outside of ASCII'],
    ['a dollar sign', `$${TOKEN}`, 'line 1, character 1: not one of the characters of a token'],
  ])('is refused with %s, and nothing of it is told', (_, text, problem) => {
    const parsed = parse(text);
    expect(parsed).toEqual({ ok: false, problem: expect.stringContaining(problem) as string });
    for (const part of ['abcdefgh', 'Bearer', '€', '$']) expect(JSON.stringify(parsed)).not.toContain(part);
  });

  it.each([
    ['UTF-16 with its mark', Buffer.from(`\uFEFF${TOKEN}`, 'utf16le'), 'is UTF-16; save it as UTF-8'],
    ['bytes that are no text', Buffer.from([0x61, 0xff, 0xc0]), 'is not UTF-8 text'],
  ])('is refused as %s', (_, content, problem) => {
    expect(parseAdminToken(content)).toEqual({ ok: false, problem });
  });

  it('holds a token that a request can carry, whenever it is taken', () => {
    for (let code = 0; code < 0x2100; code += 1) {
      const parsed = parse(`abcdefgh${String.fromCodePoint(code)}ijklmnop`);
      if (parsed.ok) expect(readBearerToken(`Bearer ${parsed.token}`)).toBe(parsed.token);
      else expect(readBearerToken(`Bearer abcdefgh${String.fromCodePoint(code)}ijklmnop`)).toBeUndefined();
    }
  });
});
