import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientWith, createRedisCluster, startApi, type Api } from '../../../test/api-fixture.ts';
import type { ApiClient, Json } from '../../../test/api-client.ts';
import { startTestHub } from '../../../test/start-test-hub.ts';
import { MOST_DOCUMENT_BYTES, MOST_TARGET_BYTES } from './bound-audit-row.rules.ts';
import { MOST_ROWS } from './merged-refusals.ts';

interface Row {
  readonly action: string;
  readonly target: string | null;
  readonly count: number;
  readonly code: string | null;
}

describe('a VIEWER whose mutations are refused', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  const rowsOf = (client: { readonly name: string }): Promise<Row[]> =>
    api.hub.runtime.dataSource.query('SELECT * FROM audit WHERE principal = $1 ORDER BY seq', [client.name]);
  async function viewer(hub = api.hub): Promise<{ client: ApiClient; name: string }> {
    const { client } = await clientWith(hub, [{ role: 'VIEWER', projectId: null }]);
    const answer = await client.query('{ viewer { name } }');
    return { client, name: String((answer.data['viewer'] as Json)['name']) };
  }
  const remove = (client: ApiClient, id: string): Promise<Json> =>
    client.mutate('deleteRedisCluster', { id, expectedGeneration: 1 }, 'redisCluster { id }');

  it('200 times of one kind at once leaves one row', async () => {
    const { client, name } = await viewer();
    const { id } = await createRedisCluster(api);
    const answers = await Promise.all(Array.from({ length: 200 }, () => remove(client, id)));
    for (const answer of answers) expect(answer['userErrors']).toMatchObject([{ code: 'FORBIDDEN' }]);
    expect(await rowsOf({ name })).toMatchObject([
      { action: 'deleteRedisCluster', target: id, code: 'FORBIDDEN', count: 1 },
    ]);
    await client.close();
  });

  it('of 200 targets leaves as many rows as a principal has, none of them long', async () => {
    const { client, name } = await viewer();
    await Promise.all(Array.from({ length: 200 }, (_, index) => remove(client, `${index} ${'x'.repeat(2_000)}`)));
    const rows = await rowsOf({ name });
    expect(rows).toHaveLength(MOST_ROWS);
    for (const { target } of rows) expect(Buffer.byteLength(target ?? '')).toBeLessThanOrEqual(MOST_TARGET_BYTES);
    await client.close();
  });

  it('is in the audit with every refusal when the hub has stopped', async () => {
    const hub = await startTestHub(api.hub.runtime.databaseUrl, { like: api.hub });
    const { client, name } = await viewer(hub);
    const [same, other] = [await createRedisCluster(api), MOST_ROWS + 20];
    await Promise.all(Array.from({ length: 100 }, () => remove(client, same.id)));
    await Promise.all(Array.from({ length: other }, (_, index) => remove(client, `other ${index}`)));
    await client.close();
    await hub.close();
    const rows = await rowsOf({ name });
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(100 + other);
    const rest = rows.at(-1);
    expect(rest).toMatchObject({ action: 'severalRefused', target: null, code: null });
    expect(rows.length).toBeLessThanOrEqual(MOST_ROWS + 2);
  });

  it('is shown to an administrator with the number and the last time', async () => {
    const { client, name } = await viewer();
    await api.hub.runtime.dataSource.query(
      `INSERT INTO audit (at, principal, action, result, count, last_at)
       VALUES ('2026-01-01T00:00:00Z', $1, 'deleteRedisCluster', 'REFUSED', 7, '2026-01-01T00:00:59Z')`,
      [name],
    );
    const answer = await api.admin.query('{ audit(first: 1) { nodes { principal at count lastAt } } }');
    expect((answer.data['audit'] as Json)['nodes']).toEqual([
      { principal: name, at: '2026-01-01T00:00:00.000Z', count: 7, lastAt: '2026-01-01T00:00:59.000Z' },
    ]);
    await client.close();
  });

  it('cannot have a large spec kept for each change: what is too large is known by its hash', async () => {
    const config = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`name-${index}`, 'v'.repeat(250)]));
    const { RunMutationService } = await import('./run-mutation.service.ts');
    const run = api.hub.app.get(RunMutationService, { strict: false });
    const caller = { viewer: { principalId: 'p', name: 'writer', kind: 'USER', bindings: [] }, requestId: 'r' };
    await run.run({
      action: 'updateRedisCluster',
      caller,
      input: {},
      work: (_tx, note) => {
        note.after = { spec: { config } };
        return Promise.resolve({ ok: true, value: {} });
      },
      mayRepeat: () => Promise.resolve({ ok: true, value: {} }),
      show: () => Promise.resolve({}),
    });
    const [row] = await api.hub.runtime.dataSource.query<{ bytes: number; after: Json }[]>(
      `SELECT octet_length(after::text) AS bytes, after FROM audit WHERE principal = 'writer'`,
    );
    expect(row?.bytes).toBeLessThan(MOST_DOCUMENT_BYTES);
    expect(row?.after).toMatchObject({ tooLarge: { bytes: expect.any(Number) as number } });
  });
});
