/**
 * The fields of one log line, copied within a bound: from whatever was handed to the log come at most some thousand
 * characters, no object deeper than a few levels, no value under the name of a secret, and errors as describe-error.ts has
 * them. Without it one line can hold a frame of a stranger, or the objects of all tenants.
 */
import { ownValue } from '../own-value.ts';
import { boundText, describeError } from './describe-error.ts';

const MAX_CHARS = 6_000;
const MAX_TEXT = 2_000;
const MAX_ENTRIES = 100;
const MAX_DEPTH = 5;
const SECRET = /^(token|password|authorization|private_?key|secret)$/i;
const HIDDEN = '***';
const CUT = '…';

export type LogFields = Readonly<Record<string, unknown>>;

interface Room {
  chars: number;
}

export const boundFields = (fields: object): LogFields => copyObject(fields, { chars: MAX_CHARS }, 0) as LogFields;

function copy(value: unknown, room: Room, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return takeText(value, room);
    case 'number':
    case 'boolean':
      room.chars -= 8;
      return value;
    case 'bigint':
      return takeText(String(value), room);
    case 'object':
      return value === null ? null : copyObject(value, room, depth);
    default:
      return undefined;
  }
}

function copyObject(value: object, room: Room, depth: number): unknown {
  if (value instanceof Error) return copyObject(describeError(value), room, depth);
  if (value instanceof Date) return copy(Number.isNaN(value.getTime()) ? 'no date' : value.toISOString(), room, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH || room.chars <= 0) return CUT;
  if (Array.isArray(value) || value instanceof Set) return copyList([...limited(value)], room, depth);
  const entries =
    value instanceof Map ? [...limited(value)] : [...limited(Object.keys(value))].map((key) => read(value, key));
  return Object.fromEntries(entries.map(([key, each]) => copyEntry(String(key), each, room, depth)));
}

const copyList = (list: readonly unknown[], room: Room, depth: number): unknown[] =>
  list.map((each) => (room.chars > 0 ? copy(each, room, depth + 1) : CUT));

function copyEntry(key: string, value: unknown, room: Room, depth: number): [string, unknown] {
  if (SECRET.test(key)) return [key, HIDDEN];
  return [takeText(key, room), room.chars > 0 ? copy(value, room, depth + 1) : CUT];
}

function* limited<T>(values: Iterable<T>): Generator<T> {
  let count = 0;
  for (const value of values) {
    if ((count += 1) > MAX_ENTRIES) return;
    yield value;
  }
}

/** A getter of a foreign object may throw: the line is written all the same. */
function read(object: object, key: string): [string, unknown] {
  try {
    return [key, ownValue(object as Record<string, unknown>, key)];
  } catch {
    return [key, 'not readable'];
  }
}

function takeText(text: string, room: Room): string {
  const taken = boundText(text, Math.max(0, Math.min(MAX_TEXT, room.chars)));
  room.chars -= taken.length + 4;
  return taken;
}
