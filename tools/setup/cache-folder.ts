import { createHash } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { withFileLock } from './hold-file-lock.ts';

/** Where things that are costly to make are kept between runs: `atoll` in the user's cache folder. */
export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? '';
  return join(base.startsWith('/') ? base : join(homedir(), '.cache'), 'atoll');
}

/** First 16 hex digits of the SHA-256 of the parts; a part's end is marked, so that ['ab', 'c'] differs from ['a', 'bc']. */
export function contentKey(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 16);
}

export async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Makes a file or folder at `path` once: `make` writes it to a temporary path beside it, which is then renamed.
 * Of several processes that want the same path at a time one makes it and the others wait for it; a process that is
 * killed halfway leaves a temporary that the next one removes, never half a result.
 */
export async function makeOnce(path: string, make: (temporaryPath: string) => Promise<void>): Promise<string> {
  if (await pathExists(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  await withFileLock(`${path}.lock`, async () => {
    if (await pathExists(path)) return;
    const temporaryPath = `${path}.making`;
    await rm(temporaryPath, { recursive: true, force: true });
    await make(temporaryPath);
    await rename(temporaryPath, path);
  });
  return path;
}
