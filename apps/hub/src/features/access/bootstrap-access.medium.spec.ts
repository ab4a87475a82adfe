import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../test/api-client.ts';
import { createTestDatabase, startTestHub } from '../../../test/start-test-hub.ts';

describe('the first start', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atoll-token-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('makes the administrator, a token only its owner can read, and the default project', async () => {
    const hub = await startTestHub(await createTestDatabase());
    const token = (await readFile(hub.ready.adminTokenFile, 'utf8')).trim();
    expect((await stat(hub.ready.adminTokenFile)).mode & 0o777).toBe(0o600);
    expect(token.length).toBeGreaterThan(40);
    const admin = await ApiClient.admin(hub);
    const answer = await admin.query(
      '{ viewer { name kind grants { role projectId } } projects { id name } hub { version epoch agentAddresses } }',
    );
    expect(answer.data).toMatchObject({
      viewer: { name: 'admin', kind: 'BOOTSTRAP_ADMIN', grants: [{ role: 'ADMIN', projectId: null }] },
      projects: [{ name: 'default' }],
      hub: { epoch: hub.runtime.identity.hubEpoch, agentAddresses: [hub.ready.agentAddress] },
    });
    const { id } = (answer.data['projects'] as unknown as [{ id: string }])[0];
    const node = await admin.query('query N($id: ID!) { node(id: $id) { ... on Project { name } } }', { id });
    expect(node.data).toEqual({ node: { name: 'default' } });
    const stored: unknown = await hub.runtime.dataSource.query('SELECT t::text FROM api_token t');
    expect(JSON.stringify(stored)).not.toContain(token);
    const [row] = await hub.runtime.dataSource.query<object[]>(`SELECT * FROM audit WHERE action = 'addAdminToken'`);
    expect(row).toMatchObject({
      principal: 'hub',
      after: { madeBy: expect.stringContaining('admin-token') as string },
    });
    expect(JSON.stringify(row)).not.toContain(token);
    await admin.close();
    await hub.close();
  });

  it('takes the token of a given file; replacing it rotates the token', async () => {
    const database = await createTestDatabase();
    const adminTokenFile = join(folder, 'token');
    await writeFile(adminTokenFile, 'the-first-admin-token\n');
    const before = await startTestHub(database, { adminTokenFile });
    const old = await ApiClient.admin(before);
    expect((await old.query('{ viewer { name } }')).data).toEqual({ viewer: { name: 'admin' } });
    await old.close();
    await before.close();
    await writeFile(adminTokenFile, 'the-second-admin-token\n');
    const after = await startTestHub(database, { adminTokenFile });
    const fresh = await ApiClient.admin(after);
    const stale = new ApiClient(after, 'the-first-admin-token');
    expect((await fresh.query('{ projects { name } }')).data).toEqual({ projects: [{ name: 'default' }] });
    expect((await stale.query('{ viewer { name } }')).status).toBe(401);
    await Promise.all([fresh.close(), stale.close()]);
    await after.close();
  });

  it('does not bring back a token that another took the place of', async () => {
    const database = await createTestDatabase();
    const adminTokenFile = join(folder, 'old');
    const newer = join(folder, 'new');
    await writeFile(adminTokenFile, 'the-first-admin-token\n');
    await writeFile(newer, 'the-second-admin-token\n');
    for (const file of [adminTokenFile, newer]) await (await startTestHub(database, { adminTokenFile: file })).close();
    // A replica that still has the earlier file starts again in the midst of the change.
    const late = await startTestHub(database, { adminTokenFile });
    const status = async (token: string): Promise<number> => {
      const client = new ApiClient(late, token);
      const answer = await client.query('{ viewer { name } }');
      await client.close();
      return answer.status;
    };
    expect([await status('the-first-admin-token'), await status('the-second-admin-token')]).toEqual([401, 200]);
    await late.close();
    const again = await startTestHub(database, { adminTokenFile: newer });
    expect(await again.runtime.dataSource.query('SELECT revoked_for FROM api_token ORDER BY created_at')).toEqual([
      { revoked_for: 'REPLACED' },
      { revoked_for: null },
    ]);
    await again.close();
  });

  it('on a database that has an administrator makes no token in a further data folder, and takes none away', async () => {
    const database = await createTestDatabase();
    const first = await startTestHub(database);
    const second = await startTestHub(database);
    await expect(stat(second.ready.adminTokenFile)).rejects.toThrow('ENOENT');
    const admin = await ApiClient.admin(first);
    expect((await admin.query('{ viewer { name } }')).status).toBe(200);
    expect(await first.runtime.dataSource.query('SELECT revoked_at FROM api_token')).toEqual([{ revoked_at: null }]);
    await admin.close();
    await second.close();
    await first.close();
  });

  it.each([
    ['a token that is too short', 'admin', 'at least 16 characters'],
    ['a character that no request can carry', 'the-first-ädmin-token', 'line 1, character 11: a character outside'],
  ])('fails when the given file holds %s, before anything is stored', async (_, content, problem) => {
    const adminTokenFile = join(folder, 'wrong');
    await writeFile(adminTokenFile, content);
    const database = await createTestDatabase();
    const start = startTestHub(database, { adminTokenFile });
    await expect(start).rejects.toThrow(`ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: ${adminTokenFile}: `);
    await expect(start).rejects.toThrow(problem);
    await expect(start).rejects.not.toThrow(content);
    const hub = await startTestHub(database);
    expect(await hub.runtime.dataSource.query('SELECT count(*)::int AS count FROM api_token')).toEqual([{ count: 1 }]);
    await hub.close();
  });

  it('refuses a token that has expired', async () => {
    const hub = await startTestHub(await createTestDatabase());
    const admin = await ApiClient.admin(hub);
    await hub.runtime.dataSource.query(`UPDATE api_token SET expires_at = now() - interval '1 second'`);
    expect((await admin.query('{ viewer { name } }')).status).toBe(401);
    await admin.close();
    await hub.close();
  });
});
