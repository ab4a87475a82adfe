/**
 * Who may publish to the channel that Sentinels talk on. Decided from the words of ACL rules, as ACL SETUSER reads them. A
 * Sentinel believes each message there: one message with a higher epoch makes every Sentinel name the address in it as primary,
 * and the Sentinels log in there with their passwords. So nobody but the Sentinels may publish to it. Listening is harmless.
 */
export const HELLO_CHANNEL = '__sentinel__:hello';

/** Glob patterns that together match every channel but HELLO_CHANNEL: ACL rules have no pattern that excludes. */
export const ALL_BUT_HELLO: readonly string[] = [
  ...[...HELLO_CHANNEL].map((letter, at) => `${HELLO_CHANNEL.slice(0, at)}[^${letter}]*`),
  ...[...HELLO_CHANNEL].slice(1).map((_, at) => HELLO_CHANNEL.slice(0, at + 1)),
  `${HELLO_CHANNEL}?*`,
];

/** NONE: not to the channel. ALL: to every channel, which can be narrowed. BY_PATTERN: by this pattern, which cannot. */
export type HelloRight = { readonly kind: 'NONE' | 'ALL' } | { readonly kind: 'BY_PATTERN'; readonly pattern: string };

const GRANTS_PUBLISH = new Set(['allcommands', '+@all', '+@pubsub', '+@fast', '+publish']);
const TAKES_PUBLISH = new Set(['nocommands', '-@all', '-@pubsub', '-@fast', '-publish']);

/** Of one list of words: those outside of parentheses, or those of one selector. */
export const findHelloRight = (words: readonly string[]): HelloRight => {
  const lower = words.map((word) => word.toLowerCase());
  const given = lower.findLastIndex((word) => GRANTS_PUBLISH.has(word));
  if (given < 0 || lower.findLastIndex((word) => TAKES_PUBLISH.has(word)) > given) return { kind: 'NONE' };
  const since = words.slice(lower.lastIndexOf('resetchannels') + 1);
  if (since.some((word) => word.toLowerCase() === 'allchannels' || word === '&*')) return { kind: 'ALL' };
  const pattern = since.find((word) => word.startsWith('&') && matches(word.slice(1), HELLO_CHANNEL));
  return pattern === undefined ? { kind: 'NONE' } : { kind: 'BY_PATTERN', pattern };
};

/** As the engines match a glob: * ? [abc] [a-z] [^abc]. Rules hold no backslash. An unclosed [ counts as a match. */
const matches = (glob: string, text: string): boolean => {
  const parts = [...glob.matchAll(/\*+|\?|\[(\^?)([^\]]*)\]|[\s\S]/g)];
  if (parts.some(([part]) => part === '[')) return true;
  const source = parts.map(([part, not = '', letters = '']) => {
    if (part.startsWith('*')) return '[\\s\\S]*';
    if (part === '?') return '[\\s\\S]';
    if (part.length > 1) return oneOf(not, letters);
    return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`).test(text);
};

const oneOf = (not: string, letters: string): string => {
  if (letters === '') return not === '' ? '[]' : '[\\s\\S]';
  return `[${not}${letters.replace(/[\\\]^[]/g, '\\$&')}]`;
};
