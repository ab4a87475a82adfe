import { createHash } from 'node:crypto';

const BEARER = /^Bearer +([\w.~+/=-]{16,512})$/i;

/** The token of an `Authorization: Bearer TOKEN` value, or undefined. */
export const readBearerToken = (header: unknown): string | undefined =>
  typeof header === 'string' ? BEARER.exec(header.trim())?.[1] : undefined;

/** Tokens are random and long, so a plain SHA-256 is enough; only this is stored. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
