/*
 * The programs of an engine image for use without a container: its layer unpacked into the cache folder, and run by its own
 * loader with its own libraries, so that tests can start several engines on the machine itself.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cacheFolder, makeOnce, pathExists } from '../setup/cache-folder.ts';
import { runCommand } from '../setup/run-command.ts';
import type { Log } from '../setup/report-progress.ts';
import { ensureEngineImage, type EngineImage, type UnavailableImage } from './engine-images.ts';

/** The words that start a program of the engine, such as `redis-server`; a Valkey answers to Redis' names too. */
export type EngineProgram = (name: 'redis-server' | 'redis-cli') => readonly [string, ...string[]];

export async function ensureEnginePrograms(
  name: EngineImage,
  log: Log = () => {},
): Promise<EngineProgram | UnavailableImage> {
  const image = await ensureEngineImage(name, log);
  if ('unavailable' in image) return image;
  const root = join(cacheFolder(), 'engines', basename(image.path, '.tar'));
  await makeOnce(root, (making) => unpackImage(image.path, making));
  const loader = await findLoader(root);
  const libraries = (await libraryFolders(root)).join(':');
  return (program) => [loader, '--library-path', libraries, join(root, 'usr/bin', program)];
}

async function unpackImage(tarPath: string, root: string): Promise<void> {
  const parts = `${root}.parts`;
  await rm(parts, { recursive: true, force: true });
  await mkdir(parts, { recursive: true });
  await mkdir(root, { recursive: true });
  await runCommand(['tar', '--extract', '--file', tarPath, '--directory', parts]);
  const blob = (digest: string): string => join(parts, 'blobs', digest.replace(':', '/'));
  const index = await readJson<{ manifests: { digest: string }[] }>(join(parts, 'index.json'));
  const manifest = await readJson<{ layers: { digest: string }[] }>(blob(index.manifests[0]?.digest ?? ''));
  for (const { digest } of manifest.layers) {
    await runCommand(['tar', '--extract', '--file', blob(digest), '--directory', root]);
  }
  await rm(parts, { recursive: true, force: true });
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

const LOADERS = ['ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'];

async function findLoader(root: string): Promise<string> {
  for (const folder of ['lib64', 'usr/lib64', 'lib', 'usr/lib']) {
    for (const name of LOADERS) {
      const path = join(root, folder, name);
      if (await pathExists(path)) return path;
    }
  }
  throw new Error(`There is no loader in ${root}.`);
}

async function libraryFolders(root: string): Promise<string[]> {
  const folders = ['x86_64', 'aarch64'].flatMap((arch) =>
    ['usr/lib', 'lib'].map((base) => join(root, base, `${arch}-linux-gnu`)),
  );
  const present = await Promise.all(folders.map(pathExists));
  return folders.filter((_, index) => present[index]);
}
