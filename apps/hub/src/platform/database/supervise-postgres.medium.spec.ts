import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import pg from 'pg';

import { supervisePostgres } from './supervise-postgres.ts';

it('an embedded PostgreSQL that was killed comes back at the same address with its data', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-supervise-'));
  const server = await supervisePostgres(folder, pino({ level: 'silent' }));
  const query = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: server.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  try {
    await query('CREATE TABLE kept (n int)');
    await query('INSERT INTO kept VALUES (7)');
    process.kill(server.pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await query('SELECT n FROM kept')).toEqual([{ n: 7 }]), {
      timeout: 20_000,
      interval: 300,
    });
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
