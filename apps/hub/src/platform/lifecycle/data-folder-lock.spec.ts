import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { lockDataFolder } from './data-folder-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the lock of a data folder', () => {
  it('is held by one live process, and free after it', async () => {
    const release = await lockDataFolder(folder);
    await expect(lockDataFolder(folder)).rejects.toThrow(`another hub (pid ${process.pid})`);
    await release();
    await (
      await lockDataFolder(folder)
    )();
  });

  it.each([`${process.pid} 1`, '999999999 7', 'nonsense', ''])('left behind as %j is taken over', async (left) => {
    await writeFile(join(folder, 'hub.lock'), left);
    await (
      await lockDataFolder(folder)
    )();
  });
});
