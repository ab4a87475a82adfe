/**
 * Where the embedded server's data lies: in the hub's data folder, unless that is under a folder which keeps the server's
 * unprivileged user out (root's home, a temporary folder of a test); then in /var/lib/atoll. What such temporary
 * folders left there is removed once they are gone; anything else is never removed, since a missing folder may be a disk
 * that is not mounted.
 */
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { findUnsearchableParent, POSTGRES_MAJOR } from './postgres-binaries.ts';
import { findPostmaster } from './postmaster-file.ts';

const OUTSIDE = '/var/lib/atoll';
/** In each folder outside: the path it stands for. */
const ORIGIN = 'origin';
const NAME = `postgres-${POSTGRES_MAJOR}`;

/** `asRoot`: the server runs as another user than the hub. */
export async function choosePostgresFolder(
  dataDir: string,
  asRoot: boolean,
  warn: (text: string) => void,
): Promise<string> {
  const own = resolve(dataDir);
  const wanted = join(own, NAME);
  await mkdir(own, { recursive: true, mode: 0o711 });
  if (!asRoot) return wanted;
  // The data folder is the hub's own; what is secret in it has modes of its own.
  await chmod(own, 0o711);
  const closed = await findUnsearchableParent(dirname(own));
  if (closed === undefined) return wanted;
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const folder = join(OUTSIDE, `${NAME}-${hash}`);
  warn(`${closed} keeps PostgreSQL's user out: its data is in ${folder}`);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await writeFile(join(folder, ORIGIN), own);
  await removeLeftovers();
  return folder;
}

async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(OUTSIDE)) {
    if (!name.startsWith(`${NAME}-`)) continue;
    const folder = join(OUTSIDE, name);
    const origin = await readFile(join(folder, ORIGIN), 'utf8').catch(() => undefined);
    if (origin === undefined || !origin.startsWith(`${tmpdir()}/`) || (await exists(origin))) continue;
    const server = await findPostmaster(join(folder, 'data'));
    if (server === undefined || server === 'stale') await rm(folder, { recursive: true, force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
