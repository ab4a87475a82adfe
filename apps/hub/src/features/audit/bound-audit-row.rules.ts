/**
 * How many bytes one row of the audit may take. What a row is about comes from the caller, who may send a megabyte, and
 * `target` is indexed, where PostgreSQL refuses what is longer than 2,704 bytes. Without a bound a caller writes much to a
 * table that keeps everything for a year, or the row of his refusal cannot be written at all.
 */
import { createHash } from 'node:crypto';

export const MOST_TARGET_BYTES = 512;
export const MOST_DOCUMENT_BYTES = 64 * 1024;
const CUT = '…';

/** The text, or as much of its beginning as fits, by whole characters, with a sign that it goes on. */
export function boundTarget(target: string | null): string | null {
  if (target === null || Buffer.byteLength(target) <= MOST_TARGET_BYTES) return target;
  let bytes = Buffer.byteLength(CUT);
  let kept = '';
  for (const character of target.slice(0, MOST_TARGET_BYTES)) {
    bytes += Buffer.byteLength(character);
    if (bytes > MOST_TARGET_BYTES) break;
    kept += character;
  }
  return kept + CUT;
}

/** JSON text of `before` or `after`. One that is too large is known by its size and its hash alone. */
export function boundDocument(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_DOCUMENT_BYTES) return text;
  return JSON.stringify({ tooLarge: { bytes, sha256: createHash('sha256').update(text).digest('hex') } });
}
