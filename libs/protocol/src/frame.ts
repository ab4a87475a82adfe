/**
 * Bytes of one WebSocket text frame to a typed message and back. Both sides treat a frame as hostile: the size is checked
 * before JSON.parse, the shape before anybody reads a field, and what this version does not know is dropped. A type that
 * is not known is an error of its own code, so that a receiver can ignore it instead of closing the session.
 */
import { ownValue } from '#domain';
import * as v from 'valibot';
import { agentPayloadSchemas } from './agent-payload-schemas.ts';
import { hubPayloadSchemas } from './hub-payload-schemas.ts';
import type { AgentMessage, HubMessage } from './envelopes.ts';
import { type PartlyRead, readInPart } from './read-in-part.ts';

/** Largest frame after Welcome, in bytes. An object of 200 KiB doubles at most when its text is quoted. */
export const MAX_FRAME_BYTES = 1024 * 1024;
/**
 * Largest frame of an agent that a hub still reads, in bytes: release 0.1.0 puts an object of the size that etcd takes into one
 * item, with its spec said twice and quoted. What is above MAX_FRAME_BYTES is read item by item, and large items in part.
 */
export const MAX_TOLERATED_FRAME_BYTES = 8 * MAX_FRAME_BYTES;
/** Largest frame of a peer that is not yet known, in bytes. */
export const MAX_HANDSHAKE_FRAME_BYTES = 16 * 1024;

/** As much as agents of today put into one. */
const MAX_ITEM_BYTES = MAX_FRAME_BYTES / 2;

export type ParseErrorCode = 'FRAME_TOO_LARGE' | 'INVALID_JSON' | 'UNKNOWN_TYPE' | 'INVALID_MESSAGE';

export interface ParseError {
  readonly code: ParseErrorCode;
  /** Where the shape is wrong, for instance `payload.upserts.0.hubUid`; empty for the frame as a whole. */
  readonly path: string;
  readonly message: string;
}
export type ParseResult<M> =
  | {
      readonly ok: true;
      readonly message: M;
      /** Items that could not be read as they were; absent when all could. */
      readonly partlyRead?: readonly PartlyRead[];
    }
  | { readonly ok: false; readonly error: ParseError };

/** A frame as the transport gives it: text or its UTF-8 bytes. */
export type FrameData = string | Uint8Array;

/** JSON text of one message. */
export const encodeFrame = (message: AgentMessage | HubMessage): string => JSON.stringify(message);

/** Reads what an agent sent; of a list with unreadable items, the others. Never throws. */
export const parseAgentFrame = (data: FrameData, maxBytes: number = MAX_FRAME_BYTES): ParseResult<AgentMessage> =>
  parseFrame<AgentMessage>(data, maxBytes, { schemas: agentPayloadSchemas, parse: makeStorable, readInPart });

/** Reads what a hub sent: all of it, or nothing. What a hub wants is never carried out in part. Never throws. */
export const parseHubFrame = (data: FrameData, maxBytes: number = MAX_FRAME_BYTES): ParseResult<HubMessage> =>
  parseFrame<HubMessage>(data, maxBytes, { schemas: hubPayloadSchemas, parse: (text) => JSON.parse(text) as unknown });

const envelopeSchema = v.object({
  type: v.pipe(v.string(), v.maxLength(64)),
  nonce: v.pipe(v.string(), v.maxLength(128)),
  payload: v.unknown(),
});

type PayloadSchemas = Readonly<Record<string, v.GenericSchema>>;

/** Only an escape can bring in what Postgres cannot store: a bare NUL is no JSON, a bare surrogate no UTF-8. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * PostgreSQL holds neither NUL nor half a surrogate pair, and refuses the whole statement. A message of a Kubernetes
 * object or of Redis may carry one; its ack or event would fail, be sent again, and fail, for ever.
 */
const replaceUnstorable = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '\uFFFD').toWellFormed() : renameUnstorable(value);

function renameUnstorable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (!Object.keys(value).some((key) => key.includes('\0') || !key.isWellFormed())) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replaceAll('\0', '\uFFFD').toWellFormed(), inner]),
  );
}

const makeStorable = (text: string): unknown =>
  JSON.parse(text, UNSTORABLE.test(text) ? replaceUnstorable : undefined) as unknown;

interface Side {
  readonly schemas: PayloadSchemas;
  readonly parse: (text: string) => unknown;
  readonly readInPart?: typeof readInPart;
}

function parseFrame<M>(data: FrameData, maxBytes: number, side: Side): ParseResult<M> {
  const size = typeof data === 'string' ? Buffer.byteLength(data, 'utf8') : data.byteLength;
  if (size > maxBytes) return tooLarge(size, maxBytes);
  let json: unknown;
  try {
    json = side.parse(typeof data === 'string' ? data : Buffer.from(data).toString('utf8'));
  } catch {
    // The parser's own message quotes the text, which may hold a token.
    return fail('INVALID_JSON', '', 'the frame is no JSON text');
  }
  const envelope = v.safeParse(envelopeSchema, json, { abortEarly: true });
  if (!envelope.success) return failByIssue(envelope.issues[0], '');
  const { type, nonce, payload } = envelope.output;
  const schema = ownValue(side.schemas, type);
  if (schema === undefined) return fail('UNKNOWN_TYPE', 'type', `no message is called ${JSON.stringify(type)}`);
  const read =
    size > MAX_FRAME_BYTES
      ? readLarge(side, schema, { type, payload, size })
      : readPayload(side, schema, { type, payload });
  if ('code' in read) return { ok: false, error: read };
  return { ok: true, message: { type, nonce, payload: read.payload } as M, ...told(read.partlyRead) };
}

interface Read {
  readonly payload: unknown;
  readonly partlyRead?: readonly PartlyRead[];
}

const told = (partlyRead: readonly PartlyRead[] = []): Pick<Read, 'partlyRead'> =>
  partlyRead.length === 0 ? {} : { partlyRead };

function readPayload(
  side: Side,
  schema: v.GenericSchema,
  { type, payload }: { readonly type: string; readonly payload: unknown },
): Read | ParseError {
  const parsed = v.safeParse(schema, payload, { abortEarly: true });
  if (parsed.success) return { payload: parsed.output };
  const part = side.readInPart?.(type, payload);
  const again = part === undefined ? parsed : v.safeParse(schema, part.payload, { abortEarly: true });
  if (part === undefined || !again.success) return failByIssue(parsed.issues[0], 'payload').error;
  return { payload: again.output, partlyRead: part.partlyRead };
}

/** Above what is allowed, but not above what the caller bears. */
function readLarge(
  side: Side,
  schema: v.GenericSchema,
  { type, payload, size }: { readonly type: string; readonly payload: unknown; readonly size: number },
): Read | ParseError {
  const part = side.readInPart?.(type, payload, MAX_ITEM_BYTES);
  if (part === undefined) return tooLarge(size, MAX_FRAME_BYTES).error;
  const parsed = v.safeParse(schema, part.payload, { abortEarly: true });
  if (!parsed.success) return failByIssue(parsed.issues[0], 'payload').error;
  return { payload: parsed.output, partlyRead: part.partlyRead };
}

const tooLarge = (size: number, maxBytes: number): { readonly ok: false; readonly error: ParseError } =>
  fail('FRAME_TOO_LARGE', '', `a frame of ${size} bytes; at most ${maxBytes} are allowed`);

const fail = (
  code: ParseErrorCode,
  path: string,
  message: string,
): { readonly ok: false; readonly error: ParseError } => ({
  ok: false,
  error: { code, path, message },
});

function failByIssue(issue: v.BaseIssue<unknown>, prefix: string): { readonly ok: false; readonly error: ParseError } {
  const path = [prefix, v.getDotPath(issue) ?? ''].filter((part) => part !== '').join('.');
  const wanted = issue.expected ?? issue.requirement ?? 'another value';
  return fail('INVALID_MESSAGE', path, `expected ${String(wanted)} at ${path === '' ? 'the top' : path}`);
}
