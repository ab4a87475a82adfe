/** The database of the hub beside which a command runs, on one connection that ends with the command. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataSource, type EntityManager } from 'typeorm';
import pg from 'pg';
import type { HubConfig } from '../platform/config/hub-config.ts';
import { parseInt8 } from '../platform/database/open-data-source.ts';

const CONNECT_TIMEOUT_MS = 20_000;
const INT8_OID = 20;

/** Without DATABASE_URL: the embedded PostgreSQL, which runs while its hub does. */
async function findDatabaseUrl(config: HubConfig): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const file = join(config.dataDir, 'ready.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`DATABASE_URL is not set, and there is no ${file} of a running hub`);
  return (JSON.parse(text) as { databaseUrl: string }).databaseUrl;
}

/** In one transaction; `isolation` says what it sees of others. */
export async function withDatabase<T>(
  config: HubConfig,
  isolation: 'READ COMMITTED' | 'REPEATABLE READ',
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  const url = await findDatabaseUrl(config);
  const extra = { connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const dataSource = new DataSource({ type: 'postgres', applicationName: 'atoll-hub command', extra });
  pg.types.setTypeParser(INT8_OID, parseInt8);
  await dataSource.initialize();
  try {
    return await dataSource.transaction(isolation, work);
  } finally {
    await dataSource.destroy();
  }
}
