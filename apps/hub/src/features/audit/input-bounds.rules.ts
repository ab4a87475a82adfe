/**
 * Refuses a mutation's input that holds a text longer than anything it could mean, a list without end, or nesting without
 * end; decided from the name of each field. Texts of an input become keys of indexes and targets of the audit, where
 * PostgreSQL refuses what is longer than 2,704 bytes, and walks over JSON inputs are recursive: without it such an input
 * is an internal error, and the audit does not hold that it was sent.
 */
import type { UserError } from '#domain';

const ID_BYTES = 128;
const NAME_BYTES = 253;
const TEXT_BYTES = 8_192;
/** Levels of objects and lists; a spec has seven. */
const MOST_LEVELS = 16;
const MOST_ENTRIES = 1_000;

/** In bytes of UTF-8, by the name of the field; every other text may have TEXT_BYTES. */
const BYTES_BY_FIELD: ReadonlyMap<string, number> = new Map([
  ['id', ID_BYTES],
  ['agentId', ID_BYTES],
  ['memberClusterId', ID_BYTES],
  ['redisClusterIds', ID_BYTES],
  ['idempotencyKey', 255],
  ['name', NAME_BYTES],
  ['namespace', NAME_BYTES],
  ['project', NAME_BYTES],
  ['region', NAME_BYTES],
  ['hubAddress', 512],
  ['paths', 4_096],
]);
/** Of a key in a JSON input: a label may have 317. */
const KEY_BYTES = 512;
/** What of a key or target is repeated to the caller and kept by the audit. */
const MOST_SHOWN = 64;

interface Place {
  readonly value: unknown;
  readonly field: readonly string[];
  /** The field of the schema whose bound counts: a list's for what is in it. */
  readonly name: string;
}

/** What is wrong with the first part of the input that is out of bounds; undefined when none is. */
export function findOutOfBounds(input: object): UserError | undefined {
  const waiting: Place[] = [{ value: input, field: ['input'], name: 'input' }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const found = typeof place.value === 'string' ? judgeText(place, place.value) : openPlace(place, waiting);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the audit says such a mutation was about, as far as it can be said. */
export function describeTarget(input: object): string | undefined {
  const { id, memberClusterId, agentId, namespace, name } = input as Readonly<Record<string, unknown>>;
  const place =
    typeof namespace === 'string' && typeof name === 'string' ? `${shorten(namespace)}/${shorten(name)}` : name;
  const target = [id, place, agentId, memberClusterId].find((each) => typeof each === 'string');
  return typeof target === 'string' ? shorten(target, 2 * MOST_SHOWN + 1) : undefined;
}

function judgeText({ field, name }: Place, text: string): UserError | undefined {
  const most = BYTES_BY_FIELD.get(name) ?? TEXT_BYTES;
  const bytes = Buffer.byteLength(text, 'utf8');
  return bytes > most ? refuse(field, `has ${bytes} bytes; at most ${most} are accepted`) : undefined;
}

function openPlace({ value, field, name }: Place, waiting: Place[]): UserError | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Date) return undefined;
  if (field.length > MOST_LEVELS) return refuse(field, `is nested more than ${MOST_LEVELS} levels deep`);
  const entries = Object.entries(value);
  if (entries.length > MOST_ENTRIES) {
    return refuse(field, `has ${entries.length} entries; at most ${MOST_ENTRIES} are accepted`);
  }
  for (const [key, inner] of entries) {
    const bytes = Buffer.byteLength(key, 'utf8');
    if (bytes > KEY_BYTES) {
      return refuse(field, `has a key of ${bytes} bytes (${shorten(key)}); at most ${KEY_BYTES} are accepted`);
    }
    waiting.push({ value: inner, field: [...field, key], name: Array.isArray(value) ? name : key });
  }
  return undefined;
}

const refuse = (field: readonly string[], problem: string): UserError => ({
  code: 'INVALID_INPUT',
  message: `"${field
    .slice(1)
    .map((each) => shorten(each))
    .join('.')}" ${problem}.`,
  field: field.map((each) => shorten(each)),
  retryable: false,
});

/** By whole characters: half of a pair is not text that PostgreSQL stores. */
const shorten = (text: string, most = MOST_SHOWN): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
