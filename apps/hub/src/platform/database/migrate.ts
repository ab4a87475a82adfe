/**
 * Brings the schema up to date while other replicas serve. A migration locks tables, and while it waits for a lock everybody
 * who comes later waits behind it: behind a `pg_dump` of an hour the whole fleet would stand still. So it waits for a
 * moment only, lets everybody pass, and tries again; so it does when it and a busy replica wait for each other. Each
 * migration is one transaction: what was tried in vain has left nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { type DataSource, MigrationExecutor } from 'typeorm';

import { LOCK } from './advisory-locks.ts';
import { endSilentConnection } from './end-silent-connection.ts';

const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 20_000;
/** Lock not available, deadlock detected. */
const IN_USE = /^(55P03|40P01)$/;

/** Several replicas may start at once: one migrates, the others wait and find nothing to do. Returns the names run. */
export async function migrate(dataSource: DataSource, databaseUrl: string, log: Logger): Promise<readonly string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // Told by the statement that is under way, or by the next one.
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [LOCK.migration]);
    const before = new Set((await new MigrationExecutor(dataSource).getExecutedMigrations()).map(({ name }) => name));
    while (!(await runPending(dataSource, log))) await sleep(PAUSE_MS);
    const after = await new MigrationExecutor(dataSource).getExecutedMigrations();
    return after.map(({ name }) => name).filter((name) => !before.has(name));
  } finally {
    await lock.end();
  }
}

/** False: the schema is in use. */
async function runPending(dataSource: DataSource, log: Logger): Promise<boolean> {
  const runner = dataSource.createQueryRunner();
  const client = (await runner.connect()) as pg.Client;
  endSilentConnection(client, 0); // a large table takes its time
  try {
    await runner.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    await executor.executePendingMigrations();
    return true;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (!IN_USE.test(code)) throw error;
    log.warn({ err: message }, 'the schema is in use (a backup, or a busy replica); the migration is tried again');
    return false;
  } finally {
    await runner.query('RESET lock_timeout').catch(() => undefined);
    endSilentConnection(client);
    await runner.release();
  }
}
