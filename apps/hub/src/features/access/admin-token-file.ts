/**
 * The file of the administrator's token. It comes from a file, never from the environment or a log: one that is configured, or
 * one made in the hub's data folder with mode 0600. A file that is there is whole: it is written beside and then named.
 */
import { chown, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ownValue } from '#domain';
import { ConfigError, type HubConfig } from '../../platform/config/hub-config.ts';
import { parseAdminToken } from './parse-admin-token.rules.ts';

const TOKEN_BYTES = 32;

export const adminTokenFile = (config: HubConfig): string =>
  resolve(config.adminTokenFile ?? join(config.dataDir, 'admin-token'));

export const makeToken = (randomBytes: (length: number) => Buffer): string =>
  `atoll_${randomBytes(TOKEN_BYTES).toString('base64url')}`;

/** Undefined: there is none in the data folder. Throws ConfigError with what is wrong with one that is there, or must be. */
export async function readAdminToken(config: HubConfig): Promise<string | undefined> {
  const file = adminTokenFile(config);
  const isConfigured = config.adminTokenFile !== undefined;
  const refuse = (problem: string): ConfigError => {
    const advice = isConfigured ? '' : '. Delete it and run `tokens replace --new` beside the hub, for another token';
    const key = isConfigured ? 'ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: ' : '';
    return new ConfigError(`wrong configuration:\n  ${key}${file}: ${problem}${advice}`);
  };
  try {
    const parsed = parseAdminToken(await readFile(file));
    if (!parsed.ok) throw refuse(parsed.problem);
    return parsed.token;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isConfigured) return undefined;
    const problem = ownValue(UNREADABLE, code ?? '');
    throw problem === undefined ? error : refuse(problem);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'is a folder, not a file',
};

/** Into the data folder, unless there is one already. */
export async function writeFirstToken(config: HubConfig, token: string): Promise<void> {
  await writeBeside(config, token, async (partial, file) => {
    await link(partial, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await rm(partial);
  });
}

/** Into the data folder, in the place of one that is there. */
export const overwriteToken = (config: HubConfig, token: string): Promise<void> => writeBeside(config, token, rename);

async function writeBeside(
  config: HubConfig,
  token: string,
  name: (partial: string, file: string) => Promise<void>,
): Promise<void> {
  const file = adminTokenFile(config);
  const partial = `${file}.${process.pid}.partial`;
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(partial, `${token}\n`, { mode: 0o600 });
  // A command that root runs leaves a file that the hub may read.
  const { uid, gid } = await stat(config.dataDir);
  if (process.getuid?.() === 0) await chown(partial, uid, gid);
  await name(partial, file);
}
