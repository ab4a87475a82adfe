/*
 * The agent's image: a base layer (libc, libstdc++ and the pinned Node, kept in the cache) and one layer with the
 * bundle, so a new build of the agent costs a second. Its tag names version and contents: equal contents, equal
 * reference, and a node never runs an older agent under the same name.
 */
import { chmod, cp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { cacheFolder, contentKey, makeOnce } from '../setup/cache-folder.ts';
import { pinnedNode } from '../setup/pinned-node.ts';
import { reportProgress, type Log } from '../setup/report-progress.ts';
import { unpackDebianRoot } from './debian-root.ts';
import { packLayer, readLayer, writeImage, type BuiltImage, type ImageLayer } from './oci-image.ts';

const REPOSITORY = 'docker.io/atoll/agent';
const RECIPE_VERSION = '1';
const SUITE = 'trixie';
const PACKAGES = ['libstdc++6', 'libc6', 'libgcc-s1'];
const USER = 999;
const KEPT_MS = 24 * 3_600_000;

/**
 * The agent's heap is small and lives long, and it waits rather than computes: a young generation of 1 MiB and a heap that
 * favours size over speed save 12 MiB of its 80, and one helper thread instead of four another 4 (measured idle, Node
 * 24). The optimising compilers stay: without them it is 2 MiB less at one RedisCluster and 14 at thirty, and slower just
 * when much fails at once.
 */
export const AGENT_NODE_FLAGS = ['--max-semi-space-size=1', '--optimize-for-size', '--v8-pool-size=1'] as const;

/**
 * Its reference is docker.io/atoll/agent:VERSION-HASH.
 * @param bundlePath the one file that `npm run build` makes of the agent
 */
export async function buildAgentImage(options: { bundlePath: string; log?: Log }): Promise<BuiltImage> {
  const log = options.log ?? (() => {});
  const bundle = await readFile(options.bundlePath);
  // Its extension says what kind of module it is.
  const file = `app/agent${extname(options.bundlePath)}`;
  const entrypoint = ['node', ...AGENT_NODE_FLAGS, `/${file}`];
  const base = await ensureBaseLayer(log);
  const manifest = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8')) as { version: string };
  const tag = `${manifest.version}-${contentKey([RECIPE_VERSION, base.digest, entrypoint.join(' '), bundle])}`;
  const reference = `${REPOSITORY}:${tag}`;
  const path = join(cacheFolder(), 'images', `agent-${tag}.tar`);
  await makeOnce(path, async (making) => {
    const root = `${making}.root`;
    const layerPath = `${making}.layer`;
    await rm(root, { recursive: true, force: true });
    await mkdir(join(root, 'app'), { recursive: true });
    await writeFile(join(root, file), bundle);
    const layers = [base, await packLayer(root, layerPath)];
    await writeImage(making, { reference, layers, entrypoint, user: USER, workingFolder: '/app' });
    await rm(root, { recursive: true });
    await rm(layerPath);
  });
  await utimes(path, new Date(), new Date()); // in use today
  await removeOldImages();
  return { path, reference };
}

/** Each build of the agent leaves an image of 140 MB; those of other days are not asked for again. */
async function removeOldImages(): Promise<void> {
  const folder = join(cacheFolder(), 'images');
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isOld = name.startsWith('agent-') && (await stat(path)).mtimeMs < Date.now() - KEPT_MS;
    if (isOld) await rm(path, { force: true });
  }
}

async function ensureBaseLayer(log: Log): Promise<ImageLayer> {
  const nodePath = pinnedNode();
  const nodeKey = contentKey([await readFile(nodePath)]);
  const folder = join(cacheFolder(), 'layers', `node-${contentKey([RECIPE_VERSION, SUITE, nodeKey, ...PACKAGES])}`);
  const title = `building the base of the agent's image from Debian ${SUITE}`;
  await reportProgress(log, title, () =>
    makeOnce(folder, async (making) => {
      const root = `${making}.root`;
      await rm(root, { recursive: true, force: true });
      await unpackDebianRoot(root, SUITE, PACKAGES);
      await mkdir(join(root, 'usr/local/bin'), { recursive: true });
      await cp(nodePath, join(root, 'usr/local/bin/node'), { dereference: true });
      await chmod(join(root, 'usr/local/bin/node'), 0o755);
      await mkdir(making, { recursive: true });
      const layer = await packLayer(root, join(making, 'layer.tar'));
      await writeFile(join(making, 'layer.tar.json'), JSON.stringify({ ...layer, tarPath: join(folder, 'layer.tar') }));
      await rm(root, { recursive: true });
    }),
  );
  return readLayer(join(folder, 'layer.tar'));
}

function repositoryFile(name: string): string {
  return new URL(`../../${name}`, import.meta.url).pathname;
}
