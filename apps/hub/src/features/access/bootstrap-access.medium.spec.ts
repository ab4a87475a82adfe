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

  it('fails when the given file holds no token worth the name', async () => {
    const adminTokenFile = join(folder, 'short');
    await writeFile(adminTokenFile, 'admin');
    await expect(startTestHub(await createTestDatabase(), { adminTokenFile })).rejects.toThrow(
      'at least 16 characters',
    );
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
