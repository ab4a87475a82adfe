import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentKey, makeOnce } from './cache-folder.ts';

describe('the cache folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atoll-cache-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('has a thing made once, however many want it at a time', async () => {
    let made = 0;
    const make = async (path: string) => {
      made += 1;
      await sleep(50);
      await writeFile(path, 'whole');
    };
    const path = join(folder, 'thing');
    await Promise.all([makeOnce(path, make), makeOnce(path, make), makeOnce(path, make)]);
    expect(made).toBe(1);
    expect(await readFile(path, 'utf8')).toBe('whole');
  });

  it('never shows half a thing: a failed making leaves none, and the next one starts afresh', async () => {
    const path = join(folder, 'broken');
    const fails = makeOnce(path, async (making) => {
      await writeFile(making, 'half');
      throw new Error('power cut');
    });
    await expect(fails).rejects.toThrow('power cut');
    expect(await readdir(folder)).not.toContain('broken');
    await makeOnce(path, async (making) => writeFile(making, 'whole', { flag: 'wx' }));
    expect(await readFile(path, 'utf8')).toBe('whole');
  });

  it('knows contents apart by where one part ends', () => {
    expect(contentKey(['ab', 'c'])).not.toBe(contentKey(['a', 'bc']));
    expect(contentKey(['ab', 'c'])).toBe(contentKey([Buffer.from('ab'), 'c']));
  });
});
