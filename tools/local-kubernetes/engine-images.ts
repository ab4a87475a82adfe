/*
 * Which engine images there are and from which Debian suite each is built: packages of one suite with all they depend
 * on, their own libc included, so that no engine is installed on the machine itself.
 * The unstable suites move on: a version is read off the server, never taken from here.
 */
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, contentKey, makeOnce, pathExists } from '../setup/cache-folder.ts';
import { reportProgress, type Log } from '../setup/report-progress.ts';
import { PackagesUnavailable, unpackDebianRoot } from './debian-root.ts';
import { packLayer, writeImage, type BuiltImage } from './oci-image.ts';

export const ENGINE_IMAGES = {
  'redis:7.0': { suite: 'bookworm', reference: 'docker.io/library/redis:7.0' },
  'redis:8.0': { suite: 'trixie', reference: 'docker.io/library/redis:8.0' },
  'redis:8.6': { suite: 'experimental', reference: 'docker.io/library/redis:8.6' },
  'valkey:8.1': { suite: 'trixie', reference: 'docker.io/valkey/valkey:8.1' },
  'valkey:9.1': { suite: 'forky', reference: 'docker.io/valkey/valkey:9.1' },
} as const;

export type EngineImage = keyof typeof ENGINE_IMAGES;

export function isEngineImage(name: string): name is EngineImage {
  return Object.hasOwn(ENGINE_IMAGES, name);
}

/** Its suite does not serve this engine at present; tests that need it are skipped with this reason. */
export interface UnavailableImage {
  unavailable: true;
  reason: string;
}

const RECIPE_VERSION = '1';
const SHELL_PACKAGES = ['dash', 'coreutils', 'sed', 'grep', 'mawk'];
const USER = 999;

/** An engine's image; built at first use (about 10 s), kept in the user's cache folder. */
export async function ensureEngineImage(
  name: EngineImage,
  log: Log = () => {},
): Promise<BuiltImage | UnavailableImage> {
  const { suite, reference } = ENGINE_IMAGES[name];
  const engine = name.startsWith('valkey') ? 'valkey' : 'redis';
  const packages = [`${engine}-server`, `${engine}-sentinel`, `${engine}-tools`, ...SHELL_PACKAGES];
  const key = contentKey([RECIPE_VERSION, reference, suite, process.arch, ...packages]);
  const path = join(cacheFolder(), 'images', `${name.replace(':', '-')}-${key}.tar`);
  if (await pathExists(path)) return { path, reference };
  try {
    await reportProgress(log, `building image ${reference} from Debian ${suite}`, () =>
      makeOnce(path, (making) => buildEngineImage(making, { engine, suite, packages, reference })),
    );
    return { path, reference };
  } catch (error) {
    if (error instanceof PackagesUnavailable) return { unavailable: true, reason: error.message };
    throw error;
  }
}

interface EngineRecipe {
  engine: string;
  suite: string;
  packages: readonly string[];
  reference: string;
}

async function buildEngineImage(tarPath: string, recipe: EngineRecipe): Promise<void> {
  const root = `${tarPath}.root`;
  const layerPath = `${tarPath}.layer`;
  try {
    await rm(root, { recursive: true, force: true });
    await mkdir(root, { recursive: true });
    await unpackDebianRoot(root, recipe.suite, recipe.packages);
    if (recipe.engine === 'valkey') await addRedisNames(root);
    await writeFile(join(root, 'etc/hosts'), '');
    await writeImage(tarPath, {
      reference: recipe.reference,
      layers: [await packLayer(root, layerPath)],
      command: [`${recipe.engine}-server`],
      user: USER,
      workingFolder: '/data',
    });
  } finally {
    await rm(root, { recursive: true, force: true });
    await rm(layerPath, { force: true });
  }
}

/** Valkey's own image has Redis' names too. */
async function addRedisNames(root: string): Promise<void> {
  for (const name of await readdir(join(root, 'usr/bin'))) {
    const redisName = name.replace(/^valkey-/, 'redis-');
    const path = join(root, 'usr/bin', redisName);
    if (redisName !== name && !(await pathExists(path))) await symlink(name, path);
  }
}
