import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { explainStartError } from './explain-start-error.ts';
import { makeDataFolder } from './make-data-folder.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'atoll-folder-'));
});
afterAll(() => rm(root, { recursive: true }));

describe('the data folder', () => {
  it('is made with all that is missing above it, and may be there already', async () => {
    const folder = join(root, 'a', 'b', 'c');
    await makeDataFolder(folder, 0o711);
    await makeDataFolder(folder, 0o711);
    const made = await stat(folder);
    expect(made.isDirectory()).toBe(true);
    expect(made.mode & 0o777).toBe(0o711);
  });

  it.runIf(process.platform === 'linux')('is refused at once where nothing can be made', async () => {
    const error: unknown = await makeDataFolder('/proc/nope/data', 0o711).catch((thrown: unknown) => thrown);
    expect(explainStartError(error)).toBe('/proc/nope cannot be written: set ATOLL_DATA_DIR to a folder that can');
  });

  it('is refused in the place of a file, and below one', async () => {
    const file = join(root, 'file');
    await writeFile(file, '');
    await expect(makeDataFolder(file, 0o711)).rejects.toThrow('EEXIST');
    await expect(makeDataFolder(join(file, 'data'), 0o711)).rejects.toThrow('EEXIST');
  });
});
