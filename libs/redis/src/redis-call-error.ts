/**
 * Why a call to Redis or Sentinel gave no answer, without the arguments of any command: ioredis hangs the whole command
 * on its errors, password included, so its errors never leave this library.
 */
import { ownValue } from '#domain';
import type { RedisNodeFacts } from '#domain';
import { TOO_LARGE_CODE } from './bounds/too-large-code.ts';

export type CallFailure = Extract<RedisNodeFacts, { reachable: false }>['reason'];

const REASON_BY_CODE: Readonly<Record<string, CallFailure>> = {
  ECONNREFUSED: 'REFUSED',
  ETIMEDOUT: 'TIMEOUT',
  ECONNRESET: 'CLOSED',
  EPIPE: 'CLOSED',
  [TOO_LARGE_CODE]: 'TOO_LARGE',
  ENOTFOUND: 'NO_ADDRESS',
  EAI_AGAIN: 'NO_ADDRESS',
};

const SENTENCES: Readonly<Record<CallFailure, string>> = {
  REFUSED: 'The connection was refused.',
  TIMEOUT: 'No answer in time.',
  CLOSED: 'The connection was closed by the other side.',
  AUTH: 'The password or the rights of the user were refused.',
  NO_ADDRESS: 'The address does not resolve.',
  TOO_LARGE: 'The answers are too large or never end, so this side ended the connection; look at the image of the pod.',
  OTHER: 'The call failed.',
};

/** Thrown when a call got no answer at all; `reason` says what that proves, `message` is safe to show. */
export class RedisCallError extends Error {
  readonly reason: CallFailure;

  constructor(reason: CallFailure, detail?: string) {
    super(detail === undefined ? SENTENCES[reason] : `${SENTENCES[reason]} (${detail})`);
    this.name = 'RedisCallError';
    this.reason = reason;
  }
}

const AUTH_REPLY = /^(WRONGPASS|NOAUTH|NOPERM)\b|invalid (username-password|password)/i;
const TIMED_OUT = /timed out|ETIMEDOUT/i;
const CLOSED = /connection is closed|aborted due to connection close|stream isn't writeable/i;

/** The reason of any error that ioredis or a socket throws; only its code and first word are kept. */
export const classifyCallError = (error: unknown): RedisCallError => {
  if (error instanceof RedisCallError) return error;
  const { code, message } = readError(error);
  const byCode = code === undefined ? undefined : ownValue(REASON_BY_CODE, code);
  if (byCode !== undefined) return new RedisCallError(byCode);
  if (AUTH_REPLY.test(message)) return new RedisCallError('AUTH');
  if (TIMED_OUT.test(message)) return new RedisCallError('TIMEOUT');
  if (CLOSED.test(message)) return new RedisCallError('CLOSED');
  return new RedisCallError('OTHER', code ?? firstWord(message));
};

const readError = (error: unknown): { code: string | undefined; message: string } => {
  if (!(error instanceof Error)) return { code: undefined, message: '' };
  const code = (error as { code?: unknown }).code;
  return { code: typeof code === 'string' ? code : undefined, message: error.message };
};

/** Redis error replies begin with a code in capitals; anything else may hold what we sent, so it is not repeated. */
const firstWord = (message: string): string | undefined => /^[A-Z][A-Z0-9_]{1,30}(?=\s|$)/.exec(message)?.[0];
