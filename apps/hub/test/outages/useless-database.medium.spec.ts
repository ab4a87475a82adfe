/**
 * A database that is there and useless: a standby, read-only, full, out of memory. The hub says which, is not ready, answers
 * UNAVAILABLE with the code, and goes on by itself when it is over. The servers are real ones, and so is what fails.
 */
import type { StatusItem } from '#protocol';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Agent, fetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { tryCommand } from '../../../../tools/setup/run-command.ts';
import { ApiClient } from '../api-client.ts';
import { enrolAgent, openSession } from '../link-fixture.ts';
import { TcpBalancer } from '../processes/tcp-balancer.ts';
import { startTestHub, type TestHub } from '../start-test-hub.ts';
import { PostgresServer, removeServer } from './postgres-server.ts';

const WAIT = { timeout: 30_000, interval: 100 };
const READY = { code: 200, reason: undefined };
const STATUS: StatusItem = {
  namespace: 'default',
  name: 'own',
  uid: 'uid',
  kind: 'RedisCluster',
  phase: 'Ready',
  conditions: [],
  pods: [],
  foreignFields: [],
};
const insecure = new Agent({ connect: { rejectUnauthorized: false } });
const isRoot = process.getuid?.() === 0;
let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => insecure.destroy());

interface Tried {
  readonly hub: TestHub;
  readonly readiness: () => Promise<{ readonly code: number; readonly reason: string | undefined }>;
  /** A mutation; the code and reason of its error, or OK. */
  readonly mutate: () => Promise<string>;
}

async function startOn(databaseUrl: string): Promise<Tried> {
  const hub = await startTestHub(databaseUrl);
  ends.push(() => hub.close());
  const api = await ApiClient.admin(hub);
  ends.push(() => api.close());
  let count = 0;
  return {
    hub,
    readiness: async () => {
      const answer = await fetch(`${hub.ready.apiUrl}/readyz`, { dispatcher: insecure });
      return { code: answer.status, reason: ((await answer.json()) as { code?: string }).code };
    },
    mutate: async () => {
      const enrol =
        'mutation E($i: EnrolMemberClusterInput!) { enrolMemberCluster(input: $i) { userErrors { code } } }';
      const { errors } = await api.query(enrol, { i: { name: `cluster-${(count += 1)}`, labels: {} } });
      const { code, reason } = (errors[0]?.extensions ?? {}) as { code?: string; reason?: string };
      return errors.length === 0 ? 'OK' : `${code} ${reason}`;
    },
  };
}

describe('a hub whose PostgreSQL is followed by a standby', () => {
  let files = '';
  let copied = '';
  let primary: PostgresServer;
  let standby: PostgresServer;
  beforeAll(async () => {
    files = await PostgresServer.make();
    copied = await PostgresServer.copy(files, 'standby');
    primary = await PostgresServer.start(files);
    standby = await PostgresServer.start(copied, primary.port);
  }, 120_000);
  afterAll(async () => {
    await standby.stop('SIGQUIT');
    await primary.stop('SIGQUIT');
    await removeServer(files);
  });

  it('is led to the standby and back, and to the standby that is promoted: it goes on by itself each time', async () => {
    const balancer = await TcpBalancer.start();
    ends.push(() => balancer.stop());
    balancer.targets = [primary.port];
    const { hub, readiness, mutate } = await startOn(`postgres://atoll@${balancer.address}/atoll`);
    expect([await mutate(), await readiness()]).toEqual(['OK', READY]);
    const epoch = hub.runtime.identity.hubEpoch;
    const caughtUp = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS done';
    const [at] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
    await expect
      .poll(() => standby.query(caughtUp.replace('$1', `'${at?.lsn ?? ''}'`)), WAIT)
      .toEqual([{ done: true }]);

    // The address leads to the standby, while the primary is well.
    balancer.targets = [standby.port];
    balancer.cut();
    await expect.poll(readiness, WAIT).toEqual({ code: 503, reason: 'DATABASE_READ_ONLY' });
    await expect.poll(mutate, WAIT).toBe('UNAVAILABLE DATABASE_READ_ONLY');

    // Back again: nobody cuts the connections that the pool has to the standby.
    balancer.targets = [primary.port];
    await expect.poll(mutate, WAIT).toBe('OK');
    await expect.poll(readiness, WAIT).toEqual(READY);
    expect(hub.runtime.identity.hubEpoch).toBe(epoch);
    await expect.poll(() => countReplica(standby), WAIT).toBe(0);

    // The primary is gone, its standby takes over behind the same address.
    await primary.stop('SIGQUIT');
    balancer.targets = [standby.port];
    await expect.poll(readiness, WAIT).toEqual({ code: 503, reason: 'DATABASE_READ_ONLY' });
    await standby.query('SELECT pg_promote()');
    await expect.poll(mutate, WAIT).toBe('OK');
    await expect.poll(readiness, WAIT).toEqual(READY);
    // Another timeline: agents compare what they hold, since its last commits may be lost.
    await expect.poll(() => hub.runtime.identity.hubEpoch, WAIT).not.toBe(epoch);
  }, 120_000);
});

describe('a hub whose PostgreSQL', () => {
  let files = '';
  let server: PostgresServer;
  beforeAll(async () => {
    files = await PostgresServer.make();
    server = await PostgresServer.start(files);
  }, 120_000);
  afterAll(async () => {
    await server.stop('SIGQUIT');
    await removeServer(files);
  });

  it('is set read-only says so, once, and goes on when the setting is gone', async () => {
    const { hub, readiness, mutate } = await startOn(server.url());
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const said: string[] = [];
    const { log } = hub.runtime;
    for (const level of ['error', 'info'] as const) {
      log[level] = (about: { code?: string }) => said.push(`${level} ${about.code ?? ''}`);
    }
    const reset = async (): Promise<void> => {
      await server.query('ALTER SYSTEM RESET default_transaction_read_only');
      await server.query('SELECT pg_reload_conf()');
    };
    ends.push(reset);
    await server.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await server.query('SELECT pg_reload_conf()');
    // Nobody writes: it finds out by itself.
    await expect.poll(readiness, WAIT).toEqual({ code: 503, reason: 'DATABASE_READ_ONLY' });
    expect(await mutate()).toBe('UNAVAILABLE DATABASE_READ_ONLY');
    agent.send('StatusBatch', { counter: 0, items: [STATUS] });
    // Tried more than once meanwhile.
    await new Promise((done) => setTimeout(done, 1_500));
    expect(agent.pending('StatusAck')).toBe(0);
    await reset();
    // Neither acknowledged before it is stored, nor left out.
    expect(await agent.next('StatusAck', WAIT.timeout)).toMatchObject({ counter: 0 });
    const stored = `SELECT name FROM local_object WHERE agent_id = '${enrolled.agentId}'`;
    expect(await server.query(stored)).toEqual([{ name: 'own' }]);
    agent.close();
    await agent.waitForClose();
    await expect.poll(readiness, WAIT).toEqual(READY);
    expect(await mutate()).toBe('OK');
    expect(said.filter((each) => each.includes('DATABASE_'))).toEqual([
      'error DATABASE_READ_ONLY',
      'info DATABASE_READ_ONLY',
    ]);
  }, 60_000);

  it.runIf(isRoot)(
    'has a full disk says so, and goes on when there is room',
    async () => {
      const disk = join(files, '..', 'disk');
      await mkdir(disk);
      expect((await tryCommand(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk])).exitCode).toBe(0);
      ends.push(async () => {
        await server.query('DROP DATABASE small WITH (FORCE)', 'postgres');
        await server.query('DROP TABLESPACE small', 'postgres');
        expect((await tryCommand(['umount', disk])).exitCode).toBe(0);
      });
      await mkdir(join(disk, 'space'));
      await chown(join(disk, 'space'), 65_534, 65_534);
      await server.query(`CREATE TABLESPACE small LOCATION '${join(disk, 'space')}'`, 'postgres');
      await server.query('CREATE DATABASE small TABLESPACE small', 'postgres');
      const { readiness, mutate } = await startOn(server.url('small'));
      expect(await mutate()).toBe('OK');

      const filler = join(disk, 'filler');
      await tryCommand(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=4k']);
      const answers: string[] = [];
      // What is on the pages already has room for some rows.
      for (let at = 0; at < 500 && !answers.some((each) => each !== 'OK'); at += 1) answers.push(await mutate());
      expect(answers.at(-1)).toBe('UNAVAILABLE DATABASE_DISK_FULL');
      await expect.poll(readiness, WAIT).toEqual({ code: 503, reason: 'DATABASE_DISK_FULL' });
      await rm(filler);
      await expect.poll(readiness, WAIT).toEqual(READY);
      expect(await mutate()).toBe('OK');
    },
    120_000,
  );

  it('runs out of memory says so, and goes on when it has some', async () => {
    await server.query('CREATE DATABASE memory', 'postgres');
    const { readiness, mutate } = await startOn(server.url('memory'));
    // The memory that all connections share for their locks, taken by one of them until it ends.
    const greedy = new pg.Client({ connectionString: server.url() });
    await greedy.connect();
    const locks = greedy.query('SELECT pg_advisory_lock(n) FROM generate_series(1, 10000000) AS n');
    await expect(locks).rejects.toMatchObject({ code: '53200' });
    await expect.poll(readiness, WAIT).toEqual({ code: 503, reason: 'DATABASE_OUT_OF_MEMORY' });
    expect(await mutate()).toMatch(/^(OK|UNAVAILABLE DATABASE_OUT_OF_MEMORY)$/);
    await greedy.end();
    await expect.poll(readiness, WAIT).toEqual(READY);
    expect(await mutate()).toBe('OK');
  }, 60_000);

  it('gives one caller an error of the whole server stays ready: the others are served', async () => {
    await server.query('CREATE DATABASE caller', 'postgres');
    const { hub, readiness, mutate } = await startOn(server.url('caller'));
    const raise = (code: string): Promise<unknown> =>
      hub.runtime.dataSource.query(`DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`);
    for (const code of ['53100', '53200', '53400', '58030', 'XX001']) {
      await expect(raise(code)).rejects.toMatchObject({ code });
    }
    // Longer than the probes that this asks for take.
    for (let at = 0; at < 20; at += 1) {
      expect(await readiness()).toEqual(READY);
      await new Promise((done) => setTimeout(done, 200));
    }
    expect(await mutate()).toBe('OK');
  }, 60_000);
});

/** Connections of hubs to it. */
async function countReplica(server: PostgresServer): Promise<number> {
  const rows = await server.query(`SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'atoll-hub%'`);
  return rows.length;
}
