/**
 * Makes the data folder and what is missing above it, one folder at a time: Node's own recursive mkdir never returns
 * where a file system says of a new folder that it does not exist, as /proc does.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Throws the system's error when there can be no such folder; explainStartError knows what to do about it. */
export async function makeDataFolder(folder: string, mode: number): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeDataFolder(above, mode);
  await mkdir(folder, { mode }).catch(async (error: unknown) => {
    // Somebody else made it in the meantime.
    if (!(await isFolder(folder))) throw error;
  });
}

/** False when there is nothing; a file in its place is for mkdir to complain about. */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
