/**
 * Incremental, order-free digest of a set of object versions: the sum modulo 2^128 of SHA-256(hubUid|generation|hash).
 * Hub and agent each keep one and compare it after every acknowledgement, so that two copies of a thousand objects are
 * proven equal by 32 hex digits. Adding and removing are exact inverses; the order of changes does not matter.
 */
import { createHash } from 'node:crypto';
import type { ObjectVersion } from './messages.ts';

const MODULUS = 1n << 128n;

/** Digest of nothing. */
export const EMPTY_DIGEST = '0'.repeat(32);

/** What the digest counts of one object. */
export type DigestEntry = ObjectVersion;

function termOf(entry: DigestEntry): bigint {
  const text = `${entry.hubUid}|${entry.hubGeneration}|${entry.specHash}`;
  const hash = createHash('sha256').update(text, 'utf8').digest('hex');
  // The low 128 bits: what is left of the 256-bit number modulo 2^128.
  return BigInt(`0x${hash.slice(32)}`);
}

const format = (sum: bigint): string => sum.toString(16).padStart(32, '0');

function parse(digest: string): bigint {
  if (!isDigest(digest)) throw new TypeError('a digest is 32 hex digits');
  return BigInt(`0x${digest}`);
}

/** True for a text of 32 lower-case hex digits. */
export const isDigest = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** The digest with one more entry. */
export const addToDigest = (digest: string, entry: DigestEntry): string =>
  format((parse(digest) + termOf(entry)) % MODULUS);

/** The digest without an entry that was added before. */
export const removeFromDigest = (digest: string, entry: DigestEntry): string =>
  format((parse(digest) + MODULUS - termOf(entry)) % MODULUS);

/** The digest of a whole set. */
export function digestOf(entries: Iterable<DigestEntry>): string {
  let sum = 0n;
  for (const entry of entries) sum = (sum + termOf(entry)) % MODULUS;
  return format(sum);
}

/** The sum of digests themselves, as of `itemHash`es. */
export function sumDigests(digests: Iterable<string>): string {
  let sum = 0n;
  for (const digest of digests) sum = (sum + parse(digest)) % MODULUS;
  return format(sum);
}
