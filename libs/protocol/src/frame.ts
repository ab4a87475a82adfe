/**
 * Bytes of one WebSocket text frame to a typed message and back. Both sides treat a frame as hostile: the size is checked
 * before JSON.parse, the shape before anybody reads a field, and what this version does not know is dropped. A type that
 * is not known is an error of its own code, so that a receiver can ignore it instead of closing the session.
 */
import * as v from 'valibot';
import { agentPayloadSchemas } from './agent-payload-schemas.ts';
import { hubPayloadSchemas } from './hub-payload-schemas.ts';
import type { AgentMessage, HubMessage } from './envelopes.ts';

/** Largest frame after Welcome, in bytes. An object of 200 KiB doubles at most when its text is quoted. */
export const MAX_FRAME_BYTES = 1024 * 1024;
/** Largest frame of a peer that is not yet known, in bytes. */
export const MAX_HANDSHAKE_FRAME_BYTES = 16 * 1024;

export type ParseErrorCode = 'FRAME_TOO_LARGE' | 'INVALID_JSON' | 'UNKNOWN_TYPE' | 'INVALID_MESSAGE';

export interface ParseError {
  readonly code: ParseErrorCode;
  /** Where the shape is wrong, for instance `payload.upserts.0.hubUid`; empty for the frame as a whole. */
  readonly path: string;
  readonly message: string;
}
export type ParseResult<M> =
  { readonly ok: true; readonly message: M } | { readonly ok: false; readonly error: ParseError };

/** A frame as the transport gives it: text or its UTF-8 bytes. */
export type FrameData = string | Uint8Array;

/** JSON text of one message. */
export const encodeFrame = (message: AgentMessage | HubMessage): string => JSON.stringify(message);

/** Reads what an agent sent. Never throws. */
export const parseAgentFrame = (data: FrameData, maxBytes: number = MAX_FRAME_BYTES): ParseResult<AgentMessage> =>
  parseFrame<AgentMessage>(data, maxBytes, agentPayloadSchemas, makeStorable);

/** Reads what a hub sent. Never throws. */
export const parseHubFrame = (data: FrameData, maxBytes: number = MAX_FRAME_BYTES): ParseResult<HubMessage> =>
  parseFrame<HubMessage>(data, maxBytes, hubPayloadSchemas);

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

function parseFrame<M>(
  data: FrameData,
  maxBytes: number,
  schemas: PayloadSchemas,
  parse: (text: string) => unknown = (text) => JSON.parse(text) as unknown,
): ParseResult<M> {
  const size = typeof data === 'string' ? Buffer.byteLength(data, 'utf8') : data.byteLength;
  if (size > maxBytes) return fail('FRAME_TOO_LARGE', '', `a frame of ${size} bytes; at most ${maxBytes} are allowed`);
  let json: unknown;
  try {
    json = parse(typeof data === 'string' ? data : Buffer.from(data).toString('utf8'));
  } catch {
    // The parser's own message quotes the text, which may hold a token.
    return fail('INVALID_JSON', '', 'the frame is no JSON text');
  }
  const envelope = v.safeParse(envelopeSchema, json, { abortEarly: true });
  if (!envelope.success) return failByIssue(envelope.issues[0], '');
  const { type, nonce, payload } = envelope.output;
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return fail('UNKNOWN_TYPE', 'type', `no message is called ${JSON.stringify(type)}`);
  const parsed = v.safeParse(schema, payload, { abortEarly: true });
  if (!parsed.success) return failByIssue(parsed.issues[0], 'payload');
  return { ok: true, message: { type, nonce, payload: parsed.output } as M };
}

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
