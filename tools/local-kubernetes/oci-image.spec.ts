import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../setup/run-command.ts';
import { packLayer, writeImage } from './oci-image.ts';

describe('image tars', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atoll-oci-'));
    for (const name of ['one', 'two']) {
      await mkdir(join(folder, name, 'app'), { recursive: true });
      await writeFile(join(folder, name, 'app/file'), 'same');
    }
    await utimes(join(folder, 'two/app/file'), 1000, 1000);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('have equal digests for equal contents, whenever they were made', async () => {
    const one = await packLayer(join(folder, 'one'), join(folder, 'one.tar'));
    const two = await packLayer(join(folder, 'two'), join(folder, 'two.tar'));
    expect(one.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(two.digest).toBe(one.digest);
  });

  it('lead from the index by digests to a configuration with a numeric user', async () => {
    const layer = await packLayer(join(folder, 'one'), join(folder, 'layer.tar'));
    const tarPath = join(folder, 'image.tar');
    await writeImage(tarPath, { reference: 'docker.io/x/y:1', layers: [layer], entrypoint: ['/app/file'], user: 999 });
    await mkdir(join(folder, 'out'));
    await runCommand(['tar', '-C', join(folder, 'out'), '-xf', tarPath]);
    const read = async (path: string) => JSON.parse(await readFile(join(folder, 'out', path), 'utf8'));
    const blob = (digest: string) => read(`blobs/sha256/${digest.replace('sha256:', '')}`);
    const index = await read('index.json');
    expect(index.manifests[0].annotations['io.containerd.image.name']).toBe('docker.io/x/y:1');
    const manifest = await blob(index.manifests[0].digest);
    expect(manifest.layers[0]).toMatchObject({ digest: layer.digest, size: layer.size });
    const config = await blob(manifest.config.digest);
    expect(config.config).toMatchObject({ User: '999', Entrypoint: ['/app/file'] });
    expect(config.rootfs.diff_ids).toEqual([layer.digest]);
  });
});
