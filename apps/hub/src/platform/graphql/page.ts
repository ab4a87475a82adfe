/**
 * Keyset pages: a cursor names the last row seen by its unique key, so rows that come or go between two pages neither
 * repeat nor hide others. Default 50 rows, at most 100 (05, GraphQL 1).
 */
import { ApiError } from './api-error.ts';
import type { Connection } from './connection.model.ts';

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 100;
/** Of base64url: the key of a group holds five names. */
const MAX_CURSOR_LENGTH = 4_096;

export interface PageRequest {
  readonly size: number;
  /** Key of the last row of the page before. */
  readonly after?: string;
}

/** A validated page. Throws ApiError BAD_USER_INPUT for a size outside 1..max or a cursor that is not ours. */
export function readPage(
  wanted: number | null | undefined,
  after: string | null | undefined,
  isKey: (key: string) => boolean,
  sizes = { default: DEFAULT_PAGE_SIZE, max: MAX_PAGE_SIZE },
): PageRequest {
  const first = wanted ?? sizes.default;
  if (first < 1 || first > sizes.max) {
    throw new ApiError('BAD_USER_INPUT', `"first" must be between 1 and ${sizes.max}.`);
  }
  if (after === undefined || after === null) return { size: first };
  const key = after.length > MAX_CURSOR_LENGTH ? '' : Buffer.from(after, 'base64url').toString('utf8');
  if (!isKey(key)) throw new ApiError('BAD_USER_INPUT', '"after" is not a cursor of this list.');
  return { size: first, after: key };
}

export const encodeCursor = (key: string): string => Buffer.from(key, 'utf8').toString('base64url');

/** A page of `request.size` rows out of at most size + 1 that were read: the extra one tells that there is a next page. */
export function buildConnection<Row, T>(
  rows: readonly Row[],
  request: PageRequest,
  row: { readonly keyOf: (row: Row) => string; readonly map: (row: Row) => T },
): Connection<T> {
  const edges = rows
    .slice(0, request.size)
    .map((item) => ({ cursor: encodeCursor(row.keyOf(item)), node: row.map(item) }));
  return {
    edges,
    nodes: edges.map((edge) => edge.node),
    pageInfo: {
      hasNextPage: rows.length > request.size,
      hasPreviousPage: request.after !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const isUuid = (key: string): boolean => UUID.test(key);
export const isInteger = (key: string): boolean => /^\d{1,18}$/.test(key);
