/**
 * A directive's value in one spelling, for comparing what was asked with what CONFIG GET says. Grammar measured on Redis
 * 7.0 to 8.6 and Valkey 8.1, 9.1 by setting every name to another value and reading it back: amounts of memory come back
 * in bytes, booleans and enums in lower case, buffer limits as all classes in bytes, event letters in an order of the
 * server's. Without it a value that is right is set again on every pass.
 */
import { ownValue, setOwnValue } from './own-value.ts';
import { parseRedisMemory } from './parse-quantity.ts';

/** Values whose letters have a case of their own. */
const CASE_MATTERS = new Set(['availability-zone', 'hash-seed', 'locale-collate', 'proc-title-template']);

/** Whether a server whose CONFIG GET says `live` runs what `wanted` asks for. */
export const isSameConfigValue = (name: string, wanted: string, live: string): boolean =>
  name === 'client-output-buffer-limit'
    ? includesBufferLimits(live, wanted)
    : canonicalConfigValue(name, wanted) === canonicalConfigValue(name, live);

export const canonicalConfigValue = (name: string, value: string): string => {
  if (name === 'notify-keyspace-events') return canonicalEvents(value.trim());
  if (CASE_MATTERS.has(name)) return value.trim();
  return value.trim().split(/\s+/).map(canonicalWord).join(' ');
};

const canonicalWord = (word: string): string => {
  const bytes = parseRedisMemory(word);
  if (bytes !== undefined) return String(bytes);
  return /^\d+\.\d+$/.test(word) ? String(Number(word)) : word.toLowerCase();
};

/** `A` stands for these letters; the order of letters means nothing. */
const ALL_EVENTS = 'g$lshzxetd';

const canonicalEvents = (value: string): string => [...new Set(value.replace('A', ALL_EVENTS))].sort().join('');

/** A class that is not named stays as it is on the server, so only the named ones are compared. */
const includesBufferLimits = (live: string, wanted: string): boolean => {
  const has = readBufferLimits(live);
  return Object.entries(readBufferLimits(wanted)).every(([kind, limits]) => ownValue(has, kind) === limits);
};

const readBufferLimits = (value: string): Readonly<Record<string, string>> => {
  const words = value.trim().split(/\s+/);
  const limits: Record<string, string> = {};
  for (let index = 0; index < words.length && words[index] !== ''; index += 4) {
    const kind = (words[index] ?? '').toLowerCase();
    const amounts = words.slice(index + 1, index + 4).map(canonicalWord);
    setOwnValue(limits, kind === 'slave' ? 'replica' : kind, amounts.join(' '));
  }
  return limits;
};

const RENAMED: Readonly<Record<string, string>> = {
  'lua-time-limit': 'busy-reply-threshold',
  'slowlog-log-slower-than': 'commandlog-execution-slower-than',
  'slowlog-max-len': 'commandlog-slow-execution-max-len',
};

/** The name that two spellings of one directive share: the engines keep the old ones (`slave-*`, `*-ziplist-*`). */
export const canonicalConfigName = (name: string): string =>
  ownValue(RENAMED, name) ?? name.replace('slave', 'replica').replace('-ziplist-', '-listpack-');
