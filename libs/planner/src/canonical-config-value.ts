/**
 * A directive's value in one spelling, for comparing what was asked with what CONFIG GET says. Grammar measured on
 * 7.0.15: amounts of memory come back in bytes, enums in lower case, buffer limits as all classes in bytes.
 */
import { parseRedisMemory } from '#domain';

/** Values whose letters have a case of their own. */
const CASE_MATTERS = new Set(['notify-keyspace-events', 'latency-tracking-info-percentiles', 'proc-title-template']);

export const canonicalConfigValue = (name: string, value: string): string => {
  const words = value.trim().split(/\s+/);
  if (name === 'client-output-buffer-limit') return canonicalBufferLimits(words);
  if (name === 'notify-keyspace-events') return canonicalEvents(value.trim());
  return words.map((word) => canonicalWord(name, word)).join(' ');
};

const canonicalWord = (name: string, word: string): string => {
  const bytes = parseRedisMemory(word);
  if (bytes !== undefined) return String(bytes);
  return CASE_MATTERS.has(name) ? word : word.toLowerCase();
};

/** `A` stands for these letters; the order of letters means nothing. */
const ALL_EVENTS = 'g$lshzxetd';

const canonicalEvents = (value: string): string => [...new Set(value.replace('A', ALL_EVENTS))].sort().join('');

/** Classes that are not named keep their defaults, so a partial list is compared with them filled in. */
const DEFAULT_BUFFER_LIMITS: Readonly<Record<string, string>> = {
  normal: '0 0 0',
  slave: '268435456 67108864 60',
  pubsub: '33554432 8388608 60',
};

const canonicalBufferLimits = (words: readonly string[]): string => {
  const limits: Record<string, string> = { ...DEFAULT_BUFFER_LIMITS };
  for (let index = 0; index + 3 < words.length; index += 4) {
    const kind = (words[index] ?? '').toLowerCase();
    const amounts = words.slice(index + 1, index + 4).map((word) => String(parseRedisMemory(word) ?? word));
    limits[kind === 'replica' ? 'slave' : kind] = amounts.join(' ');
  }
  return Object.keys(limits)
    .sort()
    .map((kind) => `${kind} ${limits[kind]}`)
    .join(' ');
};
