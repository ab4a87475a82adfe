import { describe, expect, it } from 'vitest';

import { parsePostmasterFile } from './postmaster-file.ts';

describe('postmaster.pid', () => {
  it('names the process and the socket folder', () => {
    const text = '4711\n/data\n1700000000\n5432\n/data/run\n\n  1 2\nready   \n';
    expect(parsePostmasterFile(text)).toEqual({ pid: 4711, socketDir: '/data/run' });
  });

  it.each(['', 'abc\n', '1\n/data'])('of %j is no server', (text) => {
    expect(parsePostmasterFile(text)).toBeUndefined();
  });
});
