import { describe, expect, it } from 'vitest';
import { decodeChangeCursor, encodeChangeCursor } from './change-cursor.ts';

const EPOCH = '0193a1b2-0000-7000-8000-000000000001';
const write = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

describe('a cursor of changes', () => {
  it.each([
    { xid: '0', id: -1 },
    { xid: String(2n ** 64n - 1n), id: 9_007_199_254_740_991 },
  ])('is read as it was written: %j', (cursor) => {
    expect(decodeChangeCursor(EPOCH, encodeChangeCursor(EPOCH, cursor))).toEqual(cursor);
  });

  it('of another epoch says so', () => {
    const other = EPOCH.replace('1b2', '1b3');
    expect(decodeChangeCursor(EPOCH, encodeChangeCursor(other, { xid: '7', id: 1 }))).toBe('OTHER_EPOCH');
  });

  it.each([
    ['an xid beyond what PostgreSQL counts', `${EPOCH}/${2n ** 64n}/1`],
    ['twenty nines', `${EPOCH}/${'9'.repeat(20)}/1`],
    ['400 digits', `${EPOCH}/${'9'.repeat(400)}/1`],
    ['a negative xid', `${EPOCH}/-1/1`],
    ['an id beyond a bigint', `${EPOCH}/1/${'9'.repeat(19)}`],
    ['no number', `${EPOCH}/one/1`],
    ['a megabyte', 'x'.repeat(1_000_000)],
    ['nothing', ''],
    ['other parts', 'a/b/c'],
  ])('that holds %s is none', (_what, text) => {
    expect(decodeChangeCursor(EPOCH, write(text))).toBeUndefined();
  });
});
