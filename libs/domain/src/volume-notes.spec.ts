import { describe, expect, it } from 'vitest';
import { describeBytes, LAST_WORDS, NO_ROOM, readLackOfRoom, readLeftFolders, VOLUME_FULL } from './volume-notes.ts';

describe('what a pod tells of its volume', () => {
  it('that there is no room for a copy', () => {
    const words = `${NO_ROOM} folder=/data/left-behind.1764640000 bytes=41943040 free=20971520 needed=69206016`;
    expect(readLackOfRoom(words)).toEqual({
      folder: '/data/left-behind.1764640000',
      bytes: 41_943_040,
      freeBytes: 20_971_520,
      neededBytes: 69_206_016,
    });
    expect(readLackOfRoom(VOLUME_FULL)).toBeUndefined();
    expect(readLackOfRoom(`other ${words}`)).toBeUndefined();
    expect(readLackOfRoom(undefined)).toBeUndefined();
    expect([words, VOLUME_FULL, 'Killed by the kernel'].map((text) => LAST_WORDS.test(text))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('what was set aside, in the title', () => {
    const title = '{title} {listen-addr} {server-mode} left=1764640000:8192 left=1764650000:16384 aof=keep';
    expect(readLeftFolders(title)).toEqual([
      { folder: 'left-behind.1764640000', second: 1_764_640_000, bytes: 8_192 },
      { folder: 'left-behind.1764650000', second: 1_764_650_000, bytes: 16_384 },
    ]);
    expect(readLeftFolders('{title} {listen-addr} {server-mode}')).toEqual([]);
    expect(readLeftFolders(undefined)).toEqual([]);
  });

  it.each([
    [8_192, '8 KiB'],
    [41_943_040, '40 MiB'],
    [5_000_000_000, '4.7 GiB'],
  ])('%i bytes for people', (bytes, text) => expect(describeBytes(bytes)).toBe(text));
});
