/**
 * The hash chain of the audit. Each project has one, and what belongs to none has another. A link is the SHA-256 of the
 * canonical JSON (RFC 8785) of one row, its place and the hash before it, so that a row which was changed, taken out or put
 * in breaks every hash after it. `before` and `after` enter by the SHA-256 of PostgreSQL's own text of them: its numbers are
 * longer than those of JSON, and a megabyte need not be read. Anyone can repeat this with the rows alone.
 */
import { canonicalJson, sha256Hex } from '#protocol';

/** The chain of rows without a project. */
export const FLEET_CHAIN = '00000000-0000-0000-0000-000000000000';

/** What a link is made from, as SELECT_LINKS reads it. */
export interface ChainRow {
  readonly chain: string;
  readonly seq: number;
  readonly at: string;
  readonly principal: string;
  readonly action: string;
  readonly target: string | null;
  readonly beforeSha256: string | null;
  readonly afterSha256: string | null;
  readonly result: string;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly count: number;
  readonly lastAt: string | null;
}

export interface ChainHead {
  readonly chain: string;
  readonly chainNumber: number;
  /** Null before the first row. */
  readonly chainHash: string | null;
}

export interface ChainedRow extends ChainRow {
  readonly chainNumber: number;
  readonly chainHash: string;
}

/** The row at the next place of its chain. */
export function chainRow(row: ChainRow, head: ChainHead): ChainedRow {
  const chainNumber = head.chainNumber + 1;
  // Named one by one: a column that a later release reads must not change the hash of rows that are there.
  const {
    chain,
    seq,
    at,
    principal,
    action,
    target,
    beforeSha256,
    afterSha256,
    result,
    code,
    requestId,
    count,
    lastAt,
  } = row;
  const said = {
    chain,
    seq,
    at,
    principal,
    action,
    target,
    beforeSha256,
    afterSha256,
    result,
    code,
    requestId,
    count,
    lastAt,
  };
  const chainHash = sha256Hex(canonicalJson({ ...said, chainNumber, previousHash: head.chainHash }));
  return { ...row, chainNumber, chainHash };
}

export type BreakReason = 'ROW_MISSING' | 'HASH_DIFFERS';

export interface ChainBreak extends ChainHead {
  readonly reason: BreakReason;
  readonly seq: number;
}

/** Whether the row follows the head; undefined when it does. */
export function findBreak(row: ChainedRow, head: ChainHead): ChainBreak | undefined {
  const { chain, seq, chainNumber, chainHash } = row;
  if (chainNumber !== head.chainNumber + 1) return { reason: 'ROW_MISSING', chain, seq, chainNumber, chainHash };
  if (chainRow(row, head).chainHash === chainHash) return undefined;
  return { reason: 'HASH_DIFFERS', chain, seq, chainNumber, chainHash };
}
