/**
 * The administrator's token in the bytes of its file. Says what is wrong with one that could never be used, by its place and
 * never by what stands there: the text may be a token but for one character. Without this the hub would take any text,
 * start, and answer 401 to the administrator without a word why.
 */
import { LEAST_TOKEN_LENGTH, MOST_TOKEN_LENGTH, TOKEN_CHARACTER } from '../../platform/auth/index.ts';

export type ParsedToken =
  { readonly ok: true; readonly token: string } | { readonly ok: false; readonly problem: string };

/** A token and what editors put around it: a byte order mark, line breaks. */
const MOST_BYTES = 4_096;
const AROUND = /^[ \t\r\n]+|[ \t\r\n]+$/g;
const UTF16_MARKS = ['fffe', 'feff'];

export function parseAdminToken(content: Buffer): ParsedToken {
  if (content.length > MOST_BYTES)
    return wrong(`has ${content.length} bytes; a token has ${MOST_TOKEN_LENGTH} at most`);
  if (UTF16_MARKS.includes(content.subarray(0, 2).toString('hex'))) return wrong('is UTF-16; save it as UTF-8');
  const text = decode(content);
  if (text === undefined) return wrong('is not UTF-8 text');
  const token = text.replaceAll(AROUND, '');
  if (token === '') return wrong('is empty');
  const problem = findWrongCharacter(text) ?? findWrongLength(token);
  return problem === undefined ? { ok: true, token } : wrong(problem);
}

const wrong = (problem: string): ParsedToken => ({ ok: false, problem });

/** A byte order mark is left out, as everywhere. */
function decode(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function findWrongLength(token: string): string | undefined {
  if (token.length < LEAST_TOKEN_LENGTH)
    return `the token has ${token.length} characters; it must have at least ${LEAST_TOKEN_LENGTH} characters`;
  if (token.length > MOST_TOKEN_LENGTH)
    return `the token has ${token.length} characters; it must have at most ${MOST_TOKEN_LENGTH} characters`;
  return undefined;
}

/** The first one between the beginning and the end of the token. */
function findWrongCharacter(text: string): string | undefined {
  const end = text.replace(/[ \t\r\n]+$/, '').length;
  const begin = /^[ \t\r\n]*/.exec(text)?.[0].length ?? 0;
  for (let index = begin; index < end; index += 1) {
    const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
    if (!TOKEN_CHARACTER.test(character)) return `${placeOf(text, index)}: ${describe(character)}`;
  }
  return undefined;
}

/** Counted as editors do: lines and characters from 1. */
function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split(/\r\n|\n|\r/);
  return `line ${lines.length}, character ${[...(lines.at(-1) ?? '')].length + 1}`;
}

function describe(character: string): string {
  if (/[\r\n]/.test(character)) return 'the line ends within the token, and the file must hold one token alone';
  if (character === ' ' || character === '\t') return 'a space within the token';
  if (/["'`]/.test(character)) return 'a quotation mark; write the token without';
  if (/\p{Cc}|\p{Cf}/u.test(character)) return 'a control character, which many editors do not show';
  if (character > '\x7f') return 'a character outside of ASCII';
  return 'not one of the characters of a token: letters, digits and - . _ ~ + / =';
}
