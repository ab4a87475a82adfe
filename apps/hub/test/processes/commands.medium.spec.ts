/** The commands beside a hub, as a person runs them: the built program, with the environment of the hub. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { GraphqlClient } from '../../../../tools/fleet/graphql-client.ts';
import { createTestDatabase } from '../start-test-hub.ts';
import { WAIT } from '../wait.ts';
import { ProcessWorld } from './process-world.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'], ...environment };
  return new Promise((done) => {
    const program = ['-C', 'atoll-dist', 'dist/apps/hub/src/main.js', ...args];
    execFile(process.execPath, program, { env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

// Each command is a process, which loads the hub's program.
vi.setConfig({ testTimeout: 120_000 });

let databaseUrl: string;
let world: ProcessWorld;
let hub: HubProcess;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
  world = await ProcessWorld.start(databaseUrl);
  hub = await world.startHub('first');
}, 90_000);
afterAll(() => world.close());

const query = async <T>(sql: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
};

describe('a command', () => {
  it('that does not exist lists those that do, and starts no hub', async () => {
    const { code, stderr } = await run({ DATABASE_URL: databaseUrl }, 'tokens', 'lsit');
    expect(code).toBe(2);
    for (const words of ['tokens list', 'tokens replace', 'tokens revoke', 'audit verify'])
      expect(stderr).toContain(words);
  });

  it('without a database says so', async () => {
    const { code, stderr } = await run({ ATOLL_DATA_DIR: join(world.folder, 'nothing') }, 'audit', 'verify');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('DATABASE_URL is not set') as string });
  });
});

describe('the tokens of a database', () => {
  const environment = (): Record<string, string> => ({
    DATABASE_URL: databaseUrl,
    ATOLL_DATA_DIR: join(world.folder, 'one'),
  });
  const live = async (): Promise<string[]> =>
    (await query<{ id: string }>('SELECT id FROM api_token WHERE revoked_at IS NULL')).map(({ id }) => id);

  it('are one after a second hub with a data folder of its own has started, and the hub says so', async () => {
    const second = await world.startHub('second', { env: { ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: '' } });
    expect(existsSync(second.adminTokenFile)).toBe(false);
    expect(await live()).toHaveLength(1);
    await world.stopHub(second);
  });

  it('are listed with what brought them, and without a token', async () => {
    const { code, stdout } = await run(environment(), 'tokens', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ID +PRINCIPAL +FLEET +STATE +MADE AT +EXPIRES +MADE BY/);
    expect(stdout).toMatch(/admin +ADMIN +live .* never +\S+admin-token, replica first/);
    expect(stdout).not.toContain('atoll_');
  });

  it('end at once when they are revoked, in the replicas that run', async () => {
    const viewer = (): Promise<unknown> => hub.api.request('{ viewer { name } }');
    await viewer();
    const [id = ''] = await live();
    const revoked = await run(environment(), 'tokens', 'revoke', id);
    expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining('is revoked') as string });
    expect(revoked.stderr).toContain('no administrator has a live token now');
    await expect
      .poll(
        () =>
          viewer().then(
            () => 'answered',
            () => 'refused',
          ),
        WAIT,
      )
      .toBe('refused');
    const again = await run(environment(), 'tokens', 'replace');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('somebody revoked this token') as string });
    expect((await run(environment(), 'tokens', 'revoke', 'me')).code).toBe(2);
    expect((await run(environment(), 'tokens', 'revoke', randomUUID())).code).toBe(1);
  });

  it('are replaced by a new one in the data folder, which a running hub takes at once', async () => {
    const { code, stdout } = await run(environment(), 'tokens', 'replace', '--new');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is the only live one') as string });
    expect(await live()).toHaveLength(1);
    const token = readFileSync(hub.adminTokenFile, 'utf8').trim();
    const api = new GraphqlClient({ url: `${hub.apiUrl}/graphql`, caFile: hub.caFile, token });
    expect(await api.request('{ viewer { name } }')).toEqual({ viewer: { name: 'admin' } });
    await api.close();
  });

  it('come back by replace alone after another took their place', async () => {
    const file = join(world.folder, 'configured-token');
    writeFileSync(file, 'a-token-of-a-person-1\n');
    const configured = { ...environment(), ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: file };
    const [before] = await live();
    expect((await run(configured, 'tokens', 'replace')).code).toBe(0);
    expect(await live()).not.toContain(before);
    expect((await run(configured, 'tokens', 'replace', '--new')).code).toBe(2);
    expect((await run(environment(), 'tokens', 'replace')).code).toBe(0);
    expect(await live()).toEqual([before]);
  });

  it('are changed with a row in the audit', async () => {
    const actions = await query<{ action: string }>(
      `SELECT DISTINCT action FROM audit WHERE principal = 'command' ORDER BY 1`,
    );
    expect(actions.map(({ action }) => action)).toEqual(['replaceAdminToken', 'revokeToken']);
  });

  it('are not started with when their file is wrong, and the place is said, not the text', async () => {
    const file = join(world.folder, 'wrong-token');
    writeFileSync(file, 'secret-secret$secret');
    const start = world.startHub('wrong', { env: { ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: file } });
    await expect(start).rejects.toThrow(`ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: ${file}: line 1, character 14: not one of`);
    await expect(start).rejects.not.toThrow('secret-secret');
  });
});

describe('audit verify', () => {
  const verify = (...args: string[]): Promise<Ended> => run({ DATABASE_URL: databaseUrl }, 'audit', 'verify', ...args);
  const unprotected = (sql: string): Promise<unknown> =>
    query(
      `ALTER TABLE audit DISABLE TRIGGER audit_keep_row; ${sql}; ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row`,
    );
  beforeEach(async () => {
    const waiting = (): Promise<unknown> => query('SELECT 1 FROM audit WHERE chain_no IS NULL');
    await expect.poll(waiting, WAIT).toEqual([]);
  });

  it('finds nothing in what the hub wrote, with DATABASE_URL alone', async () => {
    const { code, stdout, stderr } = await verify('--heads');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^00000000-0000-0000-0000-000000000000:\d+:[0-9a-f]{64}$/m);
    expect(stdout).toMatch(/^\d+ rows in 1 chains; 0 rows have no place in a chain yet$/m);
  });

  it('says which arguments it takes', async () => {
    expect(await verify('--expect', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('CHAIN:NUMBER:HASH') as string,
    });
    expect((await verify('--no-such')).code).toBe(2);
  });

  it('ends with 1 and the first broken row after somebody changed one, and after the chain was made again', async () => {
    const head = (await verify('--heads')).stdout.split('\n')[0] ?? '';
    expect((await verify('--expect', head)).code).toBe(0);
    await unprotected(`UPDATE audit SET principal = 'somebody else' WHERE chain_no = 2`);
    const changed = await verify();
    expect(changed.code).toBe(1);
    expect(changed.stderr).toMatch(
      /^HASH_DIFFERS chain 0{8}-\S+ number 2: the row with seq \d+ is not the one that was written/,
    );
    await unprotected('UPDATE audit SET chain_no = NULL, chain_hash = NULL, chained_at = NULL');
    await expect.poll(() => query('SELECT 1 FROM audit WHERE chain_no IS NULL'), WAIT).toEqual([]);
    expect((await verify()).code).toBe(0);
    expect(await verify('--expect', head)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('EXPECTED_DIFFERS') as string,
    });
  });
});
