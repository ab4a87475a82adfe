/**
 * Shapes that messages of both directions are built from, with the bounds that a hostile peer meets. Texts are bounded in
 * bytes of UTF-8, as PostgreSQL stores them: an index row takes 2,704 bytes, and 512 characters may be 2,048. What the hub
 * looks rows up by (namespace, name, kind, phase, mode, version) is bounded as Kubernetes bounds it, or closer.
 */
import * as v from 'valibot';
import { type Condition, MAX_GENERATION, type RedisClusterSpec, type Scope } from '#domain';
import type { ForeignField, StatusDetails } from './messages.ts';

/** Deepest nesting of a free JSON value: canonical JSON and other walks are recursive. */
const MAX_JSON_DEPTH = 64;

/** In bytes of UTF-8. */
export const MAX_SHORT_TEXT = 512;
export const MAX_LONG_TEXT = 64 * 1024;
const MAX_ID = 128;
const MAX_WORD = 64;
const MAX_PATH = 4096;

/** No text has fewer bytes than characters, so a long one is refused before it is encoded. */
const upTo = (maxBytes: number) => v.pipe(v.string(), v.maxLength(maxBytes), v.maxBytes(maxBytes));

export const shortText = upTo(MAX_SHORT_TEXT);
export const longText = upTo(MAX_LONG_TEXT);
export const requiredText = v.pipe(shortText, v.nonEmpty());
export const path = v.pipe(upTo(MAX_PATH), v.nonEmpty());
/** Ids that Kubernetes or a hub gives, or that a person wrote into an annotation in place of one. */
export const id = v.pipe(upTo(MAX_ID), v.nonEmpty());
/** A phase, a mode or a version: what objects are counted by, so its bytes are in the keys of the counts. */
export const word = upTo(MAX_WORD);

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
/** RFC 1123 label: a namespace. */
export const namespace = v.pipe(v.string(), v.maxLength(63), v.regex(new RegExp(`^${LABEL}$`), 'not a namespace'));
/** RFC 1123 subdomain: the name of an object. */
export const objectName = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(new RegExp(`^${LABEL}(?:\\.${LABEL})*$`), 'not the name of an object'),
);
export const kind = v.pipe(v.string(), v.maxLength(63), v.regex(/^[A-Za-z][A-Za-z0-9]*$/, 'not a kind'));

/** A count or revision: a safe integer from 0. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Of a version that a hub made: what is beyond no hub can have sent, and could not count on from. */
export const pastGeneration = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_GENERATION));
/** A count that PostgreSQL and GraphQL hold in 32 bits. */
export const smallCount = v.pipe(count, v.maxValue(2 ** 31 - 1));
export const generation = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'not a SHA-256 in hex'));
export const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'not a digest'));

/** Values by name. v.record drops `constructor` and the like, and what one side dropped is in no digest of the other. */
export const mapOf = <Value>(value: v.GenericSchema<unknown, Value>): v.CustomSchema<Record<string, Value>, string> =>
  v.custom<Record<string, Value>, string>(
    (given) =>
      typeof given === 'object' &&
      given !== null &&
      !Array.isArray(given) &&
      Object.entries(given).every(([name, each]) => v.is(shortText, name) && v.is(value, each)),
    'not an object of such values',
  );
export const numbers = mapOf(v.pipe(v.number(), v.finite(), v.check(isShortNumber, 'a number with too many digits')));

/** Of one object; an agent of today tells about ten. */
const MAX_GUEST_NUMBERS = 256;
const MAX_GUEST_NUMBERS_BYTES = 16 * 1024;
/** Of one number in JSON, with its quotes, colon and comma. */
const MAX_NUMBER_BYTES = 28;

/** Cheap: asked before each of its names is looked at. */
function isSmallRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  const bytes = names.reduce((sum, name) => sum + MAX_NUMBER_BYTES + Buffer.byteLength(name, 'utf8'), 0);
  return names.length <= MAX_GUEST_NUMBERS && bytes <= MAX_GUEST_NUMBERS_BYTES;
}
/** Numbers that come beside the items, so that what bounds an item does not bound them. */
export const guestNumbers = v.pipe(
  v.custom<Readonly<Record<string, number>>>(isSmallRecord, `at most ${MAX_GUEST_NUMBERS} numbers`),
  numbers,
);
export const inventoryState = v.picklist(['SYNCED', 'UNKNOWN']);
export const versions = v.pipe(v.array(count), v.minLength(1), v.maxLength(32));

export const scope: v.GenericSchema<unknown, Scope> = v.variant('kind', [
  v.object({ kind: v.literal('CLUSTER') }),
  v.object({ kind: v.literal('NAMESPACE'), namespace }),
]);

/** Words that a newer agent may have more of are taken as text; nothing is decided by an unknown one. */
const openWord = <Word extends string>(): v.GenericSchema<unknown, Word> =>
  shortText as unknown as v.GenericSchema<unknown, Word>;

export const condition: v.GenericSchema<unknown, Condition> = v.object({
  type: openWord<Condition['type']>(),
  status: v.picklist(['True', 'False', 'Unknown']),
  reason: shortText,
  message: longText,
  observedGeneration: count,
  lastTransitionTime: shortText,
});

export const podStatus = v.object({
  name: requiredText,
  role: openWord<'primary' | 'replica' | 'waiting' | 'sentinel' | 'unknown'>(),
  ready: v.boolean(),
  node: v.exactOptional(shortText),
  ip: v.exactOptional(shortText),
  link: v.exactOptional(v.picklist(['up', 'down'])),
});

export const foreignField: v.GenericSchema<unknown, ForeignField> = v.object({
  path,
  manager: shortText,
  liveValue: v.exactOptional(v.string()),
});

/**
 * PostgreSQL's jsonb writes every digit of a number: 1e300 takes 301 bytes. A few kilobytes of such numbers would be
 * megabytes for each reader. Nothing in Kubernetes or Redis has one.
 */
function isShortNumber(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-18 && size < 1e21);
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return isShortNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.values(value).every((inner) => isShallow(inner, depth - 1));
}

/** Both are as they are in the member cluster: shown and compared, never acted on, so only its size is bounded. */
export const statusDetails = v.custom<StatusDetails>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isShallow(value, MAX_JSON_DEPTH),
  'not a JSON object, or nested too deeply',
);

export const liveSpec = v.custom<RedisClusterSpec>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isShallow(value, MAX_JSON_DEPTH),
  'not a JSON object, or nested too deeply',
);
