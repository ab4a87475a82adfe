import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import pg from 'pg';
import pino from 'pino';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterEach, describe, expect, it } from 'vitest';

import { createTestDatabase } from '../../../test/start-test-hub.ts';
import { StartPatience } from '../lifecycle/start-patience.ts';
import { DatabaseSockets } from './database-sockets.ts';
import { endSilentConnection } from './end-silent-connection.ts';
import { LineageGuard } from './lineage-guard.ts';
import { migrate } from './migrate.ts';
import { openDataSource } from './open-data-source.ts';
import { ProbeConnection } from './probe-connection.ts';
import { WAIT } from '../../../test/wait.ts';

const log = pino({ level: 'silent' });
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function connectTo(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  ends.push(() => client.end());
  return client;
}

/** TCP in front of PostgreSQL's socket, whose host can vanish: then nothing passes, and nobody is told. */
async function startVanishingHost(databaseUrl: string): Promise<{ readonly url: string; vanish(): void }> {
  const { username, pathname, searchParams, port: number } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isGone = false;
  const server: Server = createServer((socket) => {
    const upstream = connect(`${searchParams.get('host') ?? ''}/.s.PGSQL.${number || '5432'}`);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => isGone || to.write(data)).on('error', () => undefined);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://${username}@127.0.0.1:${port}${pathname}`, vanish: () => void (isGone = true) };
}

describe('a database whose host vanishes', () => {
  it('fails what was asked there, in place of waiting for an answer for ever', async () => {
    const host = await startVanishingHost(await createTestDatabase());
    const client = await connectTo(host.url);
    await client.query('SELECT 1');
    endSilentConnection(client, 300);
    host.vanish();
    await expect(client.query('SELECT 1')).rejects.toThrow('Connection terminated');
  });
});

describe('a probe of commits', () => {
  it('waits for no connection of the pool, and comes back after its own was ended', async () => {
    const databaseUrl = await createTestDatabase();
    const sockets = new DatabaseSockets();
    const schema = { migrations: [], entities: [] };
    const pool = await openDataSource(databaseUrl, schema, { name: 'test', size: 16, sockets }, new LineageGuard());
    ends.push(() => pool.destroy());
    const admin = await connectTo(databaseUrl);
    await admin.query('SELECT pg_advisory_lock(1)');
    const waiting = Array.from({ length: 20 }, () => pool.query('SELECT pg_advisory_xact_lock_shared(1)'));
    await expect.poll(() => countWaiting(admin), WAIT).toBe(16);
    const guard = new LineageGuard();
    const probes = new ProbeConnection(databaseUrl, sockets, guard);
    ends.push(() => probes.close());
    await probes.probe();
    // A restored database is noticed before the probe writes to its log.
    expect(guard.known).toBeDefined();
    await admin.query('SELECT pg_advisory_unlock(1)');
    await Promise.all(waiting);

    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%emit_message%'
      AND datname = current_database() AND pid <> pg_backend_pid()`;
    expect((await admin.query(ended)).rowCount).toBe(1);
    await expect.poll(() => probes.probe().then(() => 'committed', String), WAIT).toBe('committed');
    await probes.close();
    await expect(probes.probe()).rejects.toThrow('has stopped');
  });

  it('fails when its connection is closed beside a host that has vanished', async () => {
    const host = await startVanishingHost(await createTestDatabase());
    const probes = new ProbeConnection(host.url, new DatabaseSockets(), new LineageGuard());
    await probes.probe();
    host.vanish();
    const asked = probes.probe().then(() => 'committed', String);
    await probes.close();
    expect(await asked).toContain('terminated');
  });
});

class WidenKept1764999999000 implements MigrationInterface {
  readonly name = 'WidenKept1764999999000';

  up(runner: QueryRunner): Promise<unknown> {
    return runner.query('ALTER TABLE kept ADD COLUMN more text');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

describe('a migration', () => {
  it('does not hold up the writes of others while a pg_dump reads, and is done after it', async () => {
    const databaseUrl = await createTestDatabase();
    const schema = { migrations: [WidenKept1764999999000], entities: [] };
    const replica = { name: 'test', size: 16, sockets: new DatabaseSockets() };
    const dataSource = await openDataSource(databaseUrl, schema, replica, new LineageGuard());
    ends.push(() => dataSource.destroy());
    const [dump, other] = [await connectTo(databaseUrl), await connectTo(databaseUrl)];
    await other.query('CREATE TABLE kept (n int)');
    await dump.query('BEGIN');
    await dump.query('SELECT * FROM kept');
    const migrated = migrate(dataSource, databaseUrl, log);
    await expect.poll(() => countWaiting(other), WAIT).toBe(1);
    await other.query('INSERT INTO kept VALUES (1)');
    await dump.query('COMMIT');
    expect(await migrated).toEqual(['WidenKept1764999999000']);
    await other.query(`INSERT INTO kept (more) VALUES ('yes')`);
  });
});

describe('a database without a free connection', () => {
  it('is waited for by a hub that starts, which says what is the matter', async () => {
    const databaseUrl = await createTestDatabase();
    const admin = await connectTo(databaseUrl);
    const role = `limited_${process.pid}`;
    await admin.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 0`);
    ends.push(() => admin.query(`DROP ROLE ${role}`));
    const url = new URL(databaseUrl);
    url.username = role;
    const said: { readonly code: string }[] = [];
    const patience = new StartPatience({
      log: pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) }),
      nowMs: () => performance.now(),
      random: Math.random,
    });
    const replica = { name: 'test', size: 16, sockets: new DatabaseSockets() };
    const schema = { migrations: [], entities: [] };
    const opened = patience.carry(() => openDataSource(url.toString(), schema, replica, new LineageGuard()));
    await expect.poll(() => said.map(({ code }) => code), WAIT).toEqual(['DATABASE_FULL']);
    await admin.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    const dataSource = await opened;
    ends.push(() => dataSource.destroy());
    expect(await dataSource.query('SELECT current_user AS role')).toEqual([{ role }]);
  });
});

async function countWaiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return Number(rows[0]?.count);
}
