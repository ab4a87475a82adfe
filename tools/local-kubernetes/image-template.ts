/*
 * A containerd folder with a list of images already imported, made once and then linked into each node: an import is
 * bound by the disk and would cost seconds for every node at every start.
 * Templates form a chain: the one of [a, b, c] is the one of [a, b] with c imported, so when only the last image changed
 * (the agent's), one import is all it takes.
 * Invariant: blobs and layers are shared by hard links and never written; containerd's databases are true copies.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, contentKey, makeOnce, pathExists } from '../setup/cache-folder.ts';
import { runCommand, tryCommand } from '../setup/run-command.ts';
import { waitUntil } from './wait-until.ts';

const DATABASES = ['io.containerd.metadata.v1.bolt/meta.db', 'io.containerd.snapshotter.v1.overlayfs/metadata.db'];
const IMPORT_TIMEOUT_MS = 120_000;

/** Folder of the template with these image tars, in this order; made when it is not there. */
export async function ensureImageTemplate(images: readonly string[]): Promise<string> {
  const last = images.at(-1);
  if (last === undefined) throw new Error('a template needs an image');
  const folder = join(cacheFolder(), 'containerd', await templateKey(images));
  if (await pathExists(folder)) return folder;
  const before = images.length > 1 ? await ensureImageTemplate(images.slice(0, -1)) : undefined;
  return makeOnce(folder, async (making) => {
    if (before !== undefined) await linkTemplate(before, making);
    await importImage(making, last);
  });
}

/** Gives a node the template's contents as its own containerd folder. */
export async function linkTemplate(template: string, folder: string): Promise<void> {
  const linked = await tryCommand(['cp', '-al', template, folder]);
  if (linked.exitCode !== 0) {
    await rm(folder, { recursive: true, force: true });
    await runCommand(['cp', '-a', template, folder]); // the cache lies on another file system
    return;
  }
  for (const database of DATABASES) {
    await runCommand(['cp', '--remove-destination', join(template, database), join(folder, database)]);
  }
}

async function templateKey(images: readonly string[]): Promise<string> {
  const versions = await Promise.all(
    images.map(async (path) => {
      const { size, ino, birthtimeMs } = await stat(path);
      return `${path} ${size} ${ino} ${birthtimeMs}`;
    }),
  );
  return contentKey(versions);
}

async function importImage(root: string, tarPath: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-containerd-'));
  const socket = join(folder, 'containerd.sock');
  const configuration = `version = 2
root = "${root}"
state = "${folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "${socket}"
`;
  await writeFile(join(folder, 'containerd.toml'), configuration);
  const containerd = spawn('containerd', ['--config', join(folder, 'containerd.toml')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => containerd.once('exit', resolve));
  try {
    await waitUntil(() => pathExists(socket), { what: 'containerd for imports', timeoutMs: 30_000, parts: [] });
    const argv = ['ctr', '-a', socket, '-n', 'k8s.io', 'images', 'import', tarPath];
    await runCommand(argv, { timeoutMs: IMPORT_TIMEOUT_MS });
  } finally {
    containerd.kill('SIGTERM'); // in order, so that its databases are whole
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}
