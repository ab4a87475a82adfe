import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { buildConnection, encodeCursor, isInteger, isUuid, readPage } from './page.ts';

const row = { keyOf: (n: number) => String(n), map: (n: number) => n * 10 };

describe('a page', () => {
  it('says that there is more when one row more than asked for was read', () => {
    const page = buildConnection([1, 2, 3], { size: 2 }, row);
    expect(page.nodes).toEqual([10, 20]);
    expect(page.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false, endCursor: encodeCursor('2') });
  });
  it('ends with an empty list and no cursor', () => {
    expect(buildConnection([], { size: 2, after: '9' }, row).pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: true,
      startCursor: null,
      endCursor: null,
    });
  });
  it.each([0, -1, 101])('refuses a size of %d', (first) => {
    expect(() => readPage(first, undefined, isUuid)).toThrow(ApiError);
  });
  it('refuses a cursor of another list', () => {
    expect(() => readPage(10, encodeCursor('7'), isUuid)).toThrow(ApiError);
    expect(readPage(10, encodeCursor('7'), isInteger)).toEqual({ size: 10, after: '7' });
  });
});
