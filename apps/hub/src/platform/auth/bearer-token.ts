import { createHash } from 'node:crypto';

/** One character of a token. Who makes tokens looks at these as well, or it makes some that nobody can use. */
export const TOKEN_CHARACTER = /[\w.~+/=-]/;
export const LEAST_TOKEN_LENGTH = 16;
export const MOST_TOKEN_LENGTH = 512;
const BEARER = new RegExp(`^Bearer +(${TOKEN_CHARACTER.source}{${LEAST_TOKEN_LENGTH},${MOST_TOKEN_LENGTH}})$`, 'i');

/** The token of an `Authorization: Bearer TOKEN` value, or undefined. */
export const readBearerToken = (header: unknown): string | undefined =>
  typeof header === 'string' ? BEARER.exec(header.trim())?.[1] : undefined;

/** Tokens are random and long, so a plain SHA-256 is enough; only this is stored. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
