import { describe, expect, it } from 'vitest';
import { decodeChangeCursor, encodeChangeCursor } from './change-cursor.ts';

const epoch = '01939c7a-0000-7000-8000-0123456789ab';

describe('cursors of changes', () => {
  it('come back as they were, also beyond the safe integers', () => {
    const cursor = { xid: '18446744073709551615', id: -1 };
    expect(decodeChangeCursor(epoch, encodeChangeCursor(epoch, cursor))).toEqual(cursor);
  });
  it('of another epoch mean nothing', () => {
    const text = encodeChangeCursor(epoch.replace('0193', '0194'), { xid: '1', id: 1 });
    expect(decodeChangeCursor(epoch, text)).toBe('OTHER_EPOCH');
  });
  it.each(['', 'abc', Buffer.from('a/b/c').toString('base64url')])('are not %j', (text) => {
    expect(decodeChangeCursor(epoch, text)).toBeUndefined();
  });
});
