/**
 * The one text of a spec that hub and agent hash. The hub stores this text and sends it as it is, so a spec hash never
 * depends on who serialised it. Without one canonical form two equal specs would look like two generations.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785 JSON text of a plain JSON value. Throws TypeError for what JSON cannot hold (undefined, NaN, functions). */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('the value has no JSON form');
  return text;
}

/** SHA-256, 64 hex digits, of the UTF-8 bytes of a text. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Hash of a pushed object's version: SHA-256 hex of the spec's RFC 8785 text exactly as it is sent. */
export const specHash = (specText: string): string => sha256Hex(specText);

/** Text and hash of a spec in one step, for the side that makes a generation. */
export function freezeSpec(spec: unknown): { readonly text: string; readonly hash: string } {
  const text = canonicalJson(spec);
  return { text, hash: specHash(text) };
}
