import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { POSTGRES_MAJOR } from './postgres-binaries.ts';
import { choosePostgresFolder } from './postgres-folder.ts';
import { isAlive } from './postmaster-file.ts';
import { signalServer } from './signal-server.ts';

let folder: string;
let warnings: string[];
const servers: EmbeddedPostgres[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-postgres-'));
  await chmod(folder, 0o711);
  warnings = [];
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(folder, (text) => warnings.push(text));
  servers.push(server);
  return server;
}

async function query(server: EmbeddedPostgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  it.runIf(process.getuid?.() === 0)('runs though a parent keeps its user out, and is tidied up after', async () => {
    await chmod(folder, 0o700);
    const hidden = join(folder, 'hub');
    const server = await startEmbeddedPostgres(hidden, (text) => warnings.push(text));
    const place = /its data is in (\S+)/.exec(warnings.join())?.[1] ?? '';
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(await readFile(join(place, 'origin'), 'utf8')).toBe(hidden);
    await rm(hidden, { recursive: true });
    await choosePostgresFolder(join(folder, 'other'), true, () => undefined);
    await expect(readFile(join(place, 'origin'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it('keeps its data over a stop, listens on no port, and leaves no process', async () => {
    const first = await start();
    expect(await query(first, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    await query(first, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('that outlived its hub is adopted', async () => {
    const orphan = await start();
    const adopted = await start();
    expect(adopted).toMatchObject({ adopted: true, pid: orphan.pid, databaseUrl: orphan.databaseUrl });
  });

  it('whose pid file names a process of somebody else is started anew', async () => {
    const first = await start();
    await first.stop();
    const file = join(folder, `postgres-${POSTGRES_MAJOR}`, 'data', 'postmaster.pid');
    await writeFile(file, `${process.pid}\n/elsewhere\n1\n5432\n/elsewhere\n\n\nready\n`);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await readFile(file, 'utf8')).toMatch(new RegExp(`^${second.pid}\n`));
  });

  it('that does not answer is replaced', async () => {
    const frozen = await start();
    await signalServer(frozen.pid, 'SIGSTOP');
    const second = await start();
    expect(second.pid).not.toBe(frozen.pid);
    expect(warnings.join()).toContain('is replaced');
    expect(await query(second, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
