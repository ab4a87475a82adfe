/**
 * A PostgreSQL of its own under a built hub, with agents that were in step. First it is away for longer than every timeout
 * while the member clusters change (OUTAGE_SECONDS makes it minutes): after it is back the hub, which was not restarted,
 * holds what is live, and nobody was called lost in between. Then it comes back older than it was, in the two ways that
 * neither its identifier nor its timeline tell: by a copy of its files under a hub that runs on, and by a dump restored
 * into the same server while the hub was down. At last it hangs: in its commits, and then altogether, while the hub has to stop.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { runCommand } from '../../../../tools/setup/run-command.ts';
import { mutateRedisCluster, type RedisClusterView } from '../../../../tools/fleet/redis-cluster.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/database/embedded-postgres.ts';
import { signalServer } from '../../src/platform/database/signal-server.ts';
import { ProcessWorld, SPEC_INPUT, type ProcessMember } from './process-world.ts';
import { WAIT } from '../wait.ts';

/** Longer than the pool's, the probe's and the agents' own: 5, 2 and 2 s. */
const OUTAGE_MS = Number(process.env['OUTAGE_SECONDS'] ?? 7) * 1_000;
const MEMBERS = 6;
const NAMES = ['deleted', 'kept', 'older'];

let folder: string;
let postgres: EmbeddedPostgres;
let world: ProcessWorld;
let hub: HubProcess;
let views: Map<ProcessMember, RedisClusterView[]>;
const insecure = new Agent({ connect: { rejectUnauthorized: false } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-lost-database-'));
  await chmod(folder, 0o711);
  postgres = await startEmbeddedPostgres(folder, () => undefined);
  world = await ProcessWorld.start(postgres.databaseUrl);
  hub = await world.startHub('only');
  const members = await Promise.all(
    Array.from({ length: MEMBERS }, (_, at) => world.addMember(hub, `member-${at + 1}`)),
  );
  views = new Map();
  for (const one of members) {
    const made = [];
    for (const name of NAMES) made.push(await world.want(hub, one, name));
    views.set(one, made);
  }
  for (const view of [...views.values()].flat()) await world.untilSync(hub, view.id, 'IN_SYNC');
}, 120_000);
afterAll(async () => {
  await world.close();
  await postgres.stop();
  await insecure.destroy();
  await rm(folder, { recursive: true, force: true });
});

const idOf = (one: ProcessMember, name: string): string =>
  (views.get(one) ?? []).find((view) => view.name === name)?.id ?? '';
const probe = async (path: string): Promise<number> =>
  (await fetch(`${hub.apiUrl}/${path}`, { dispatcher: insecure })).status;

async function query<T extends object>(sql: string, database = 'atoll'): Promise<T[]> {
  const url = new URL(postgres.databaseUrl);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function readReadiness(): Promise<string | undefined> {
  const response = await fetch(`${hub.apiUrl}/readyz`, { dispatcher: insecure });
  return ((await response.json()) as { code?: string }).code;
}

/** With owners: PostgreSQL runs as another user. */
const copy = (from: string, to: string): Promise<unknown> => runCommand(['cp', '-a', from, to]);

/** Of the embedded server; its socket is in a folder of it. */
const serverFolder = (): string => dirname(new URL(postgres.databaseUrl).searchParams.get('host') ?? '');

const readEpoch = async (): Promise<string> =>
  (await query<{ hub_epoch: string }>('SELECT hub_epoch FROM hub_identity'))[0]?.hub_epoch ?? '';

async function update(one: ProcessMember, name: string, size: number): Promise<void> {
  const input = { id: idOf(one, name), expectedGeneration: null, spec: { ...SPEC_INPUT, mode: 'REPLICATION', size } };
  expect((await mutateRedisCluster(hub.api, 'update', input)).userErrors).toEqual([]);
}

/** What a person did after the copy, which the restored hub knows nothing of. */
async function goOn(one: ProcessMember): Promise<RedisClusterView> {
  await update(one, 'older', 3);
  await world.untilSync(hub, idOf(one, 'older'), 'IN_SYNC');
  const input = { id: idOf(one, 'deleted'), expectedGeneration: null };
  expect((await mutateRedisCluster(hub.api, 'delete', input)).userErrors).toEqual([]);
  const made = await world.want(hub, one, 'newer');
  await world.untilSync(hub, made.id, 'IN_SYNC');
  await vi.waitFor(async () => expect(await one.member.names()).toEqual(['kept', 'newer', 'older']), WAIT);
  return made;
}

/** What must be true of a member cluster whose hub came back older. */
async function expectHarmless(one: ProcessMember): Promise<void> {
  await vi.waitFor(
    () => expect(one.member.link.state()).toMatchObject({ connected: true, unclaimedObjects: 1 }),
    30_000,
  );
  await world.untilSync(hub, idOf(one, 'kept'), 'IN_SYNC');
  await vi.waitFor(async () => {
    expect((await world.read(hub, idOf(one, 'older')))?.delivery.code).toBe('GENERATION_AHEAD');
    expect((await world.read(hub, idOf(one, 'deleted')))?.delivery.code).toMatch(/TOMBSTONED|DELETED_LOCALLY/);
  }, WAIT);
  expect(await one.member.names()).toEqual(['kept', 'newer', 'older']);
  expect((await one.member.find('older'))?.spec).toMatchObject({ size: 3 });
  expect(one.member.warned).toContain('Unclaimed newer');
}

describe('a hub whose PostgreSQL', () => {
  it(
    'is away for longer than every timeout tells so, goes on by itself and holds what is live',
    async () => {
      const [first, second] = world.members as [ProcessMember, ProcessMember];
      await postgres.stop();
      const begunMs = Date.now();
      for (const { member } of world.members) await member.setStatus('kept', { phase: 'Degraded', readyPods: 7 });
      await second.member.remove('deleted');
      await vi.waitFor(async () => expect(await probe('readyz')).toBe(503), WAIT);
      expect(await probe('livez')).toBe(200);
      await expect(update(first, 'kept', 2)).rejects.toThrow(/database|unavailable|try again/i);
      await sleep(Math.max(0, begunMs + OUTAGE_MS - Date.now()));
      expect(await probe('livez')).toBe(200);

      postgres = await startEmbeddedPostgres(folder, () => undefined);
      await vi.waitFor(async () => expect(await probe('readyz')).toBe(200), WAIT);
      const verdicts = await query<{ verdict: string }>(
        `SELECT DISTINCT verdict FROM agent_seen WHERE verdict = 'UNKNOWN'`,
      );
      expect(verdicts).toEqual([]);
      for (const one of world.members) {
        await vi.waitFor(async () => {
          const status = (await world.read(hub, idOf(one, 'kept')))?.status;
          expect(status).toMatchObject({ phase: 'DEGRADED', readyPods: 7, lastKnown: false });
        }, 30_000);
      }
      await world.untilSync(hub, idOf(second, 'deleted'), 'DELETED_LOCALLY');
      expect(await query(`SELECT 1 FROM agent_seen WHERE verdict = 'UNKNOWN'`)).toEqual([]);
      await update(first, 'kept', 2);
      await world.untilSync(hub, idOf(first, 'kept'), 'IN_SYNC');
    },
    OUTAGE_MS + 90_000,
  );

  it('is put back by a copy of its files, under a hub that runs on: a new epoch, and nothing is destroyed', async () => {
    const one = world.members[2] as ProcessMember;
    await postgres.stop();
    await copy(serverFolder(), join(folder, 'copy'));
    postgres = await startEmbeddedPostgres(folder, () => undefined);
    await world.untilConnected(one);
    const epoch = await readEpoch();
    const newer = await goOn(one);
    // The hub looks every two seconds how far the log is.
    await sleep(3_000);
    await postgres.stop();
    await rm(serverFolder(), { recursive: true });
    await copy(join(folder, 'copy'), serverFolder());
    postgres = await startEmbeddedPostgres(folder, () => undefined);
    await vi.waitFor(async () => expect(await readEpoch()).not.toBe(epoch), 30_000);
    await expectHarmless(one);
    expect(await world.read(hub, newer.id)).toBeUndefined();
  }, 120_000);

  it('is restored from a dump into the same server while the hub is down: the same', async () => {
    const one = world.members[3] as ProcessMember;
    const epoch = await readEpoch();
    await world.stopHub(hub);
    await query('CREATE DATABASE dump TEMPLATE atoll', 'postgres');
    hub = await world.startHub('only');
    await world.untilConnected(one);
    expect(await readEpoch()).toBe(epoch);
    await goOn(one);
    await world.stopHub(hub);
    await query('DROP DATABASE atoll', 'postgres');
    await query('CREATE DATABASE atoll TEMPLATE dump', 'postgres');
    hub = await world.startHub('only');
    expect(await readEpoch()).not.toBe(epoch);
    await expectHarmless(one);
  }, 120_000);

  it('hangs in its commits is told by readiness, and then frozen it holds up no stop; nothing is lost', async () => {
    const one = world.members[4] as ProcessMember;
    await query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
    await query('SELECT pg_reload_conf()');
    await one.member.setStatus('kept', { phase: 'Degraded', readyPods: 5 });
    await vi.waitFor(async () => expect(await readReadiness()).toBe('DATABASE_COMMITS_HANG'), 30_000);
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await probe('livez')).toBe(200);

    await signalServer(postgres.pid, 'SIGSTOP');
    try {
      await world.stopHub(hub);
    } finally {
      await signalServer(postgres.pid, 'SIGCONT');
    }
    // Zero: it came to its end by itself, and was not cut off.
    expect(hub.process.exitCode).toBe(0);
    await vi.waitFor(async () => expect(await readFile(hub.logFile, 'utf8')).toContain('DATABASE_GIVEN_UP'), WAIT);

    await query('ALTER SYSTEM RESET synchronous_standby_names');
    await query('SELECT pg_reload_conf()');
    hub = await world.startHub('only');
    await vi.waitFor(async () => {
      const status = (await world.read(hub, idOf(one, 'kept')))?.status;
      expect(status).toMatchObject({ phase: 'DEGRADED', readyPods: 5 });
    }, 30_000);
  }, 120_000);
});
