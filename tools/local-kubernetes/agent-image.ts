/*
 * The agent's image: a base layer (libc, libstdc++ and the pinned Node, kept in the cache) and one layer with the
 * bundle, so a new build of the agent costs a second. Its tag names version and contents: equal contents, equal
 * reference, and a node never runs an older agent under the same name.
 */
import { chmod, cp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { AGENT_NODE_FLAGS } from '../build/agent-node-flags.ts';
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

/** What `npm run build` puts beside the bundle, to start it faster; release 0.1.0 had none. */
const START = 'start.cjs';
const CACHE = 'agent.cache';

/**
 * Its reference is docker.io/atoll/agent:VERSION-HASH.
 * @param bundlePath the one file that `npm run build` makes of the agent
 */
export async function buildAgentImage(options: { bundlePath: string; log?: Log }): Promise<BuiltImage> {
  const log = options.log ?? (() => {});
  const bundle = await readFile(options.bundlePath);
  // Its extension says what kind of module it is.
  const file = `agent${extname(options.bundlePath)}`;
  const beside = await readBeside(options.bundlePath);
  const entrypoint = ['node', ...AGENT_NODE_FLAGS, `/app/${beside.has(START) ? START : file}`];
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
    for (const [name, content] of [...beside, [file, bundle] as const])
      await writeFile(join(root, 'app', name), content);
    const layers = [base, await packLayer(root, layerPath)];
    await writeImage(making, { reference, layers, entrypoint, user: USER, workingFolder: '/app' });
    await rm(root, { recursive: true });
    await rm(layerPath);
  });
  await utimes(path, new Date(), new Date()); // in use today
  await removeOldImages();
  return { path, reference };
}

/**
 * Equal programs have equal caches, whatever their bytes, so the image's tag is made of the program alone.
 * Empty where there is nothing.
 */
async function readBeside(bundlePath: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of extname(bundlePath) === '.cjs' ? [START, CACHE] : []) {
    const content = await readFile(join(dirname(bundlePath), name)).catch(() => undefined);
    if (content !== undefined) files.set(name, content);
  }
  return files;
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
