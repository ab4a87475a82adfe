/**
 * The first administrator's token. It comes from a file, never from the environment or a log: one that is given, or one
 * made at the first start with mode 0600 in the hub's data folder.
 */
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HubConfig } from '../../platform/config/hub-config.ts';

const MIN_LENGTH = 16;

export const adminTokenFile = (config: HubConfig): string =>
  config.adminTokenFile ?? join(config.dataDir, 'admin-token');

/** Reads the token; makes the file in the data folder when it is not there. Throws when a given file is missing or short. */
export async function readAdminToken(config: HubConfig, newToken: () => string): Promise<string> {
  const file = adminTokenFile(config);
  if (config.adminTokenFile === undefined) await writeOnce(file, newToken());
  const token = (await readFile(file, 'utf8')).trim();
  if (token.length < MIN_LENGTH)
    throw new Error(`${file}: the admin's token must have at least ${MIN_LENGTH} characters`);
  return token;
}

async function writeOnce(file: string, token: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(`${token}\n`);
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
