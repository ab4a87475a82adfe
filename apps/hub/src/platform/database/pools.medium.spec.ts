/** Callers of the API use up their own share of their own pool: agents, tokens, health and other callers go on beside them. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { ApiAnswer, ApiClient } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, startApi, type Api } from '../../../test/api-fixture.ts';
import { openSession } from '../../../test/link-fixture.ts';
import { lookAt } from '../../../test/look-at.ts';
import { WAIT } from '../../../test/wait.ts';
import { encodeGlobalId } from '../graphql/global-id.ts';

const VIEWER = [{ role: 'VIEWER', projectId: null }] as const;
const ASKED_BY_EACH = 40;

let api: Api;
let outside: pg.Client;
const viewers: ApiClient[] = [];
beforeAll(async () => {
  api = await startApi();
  outside = new pg.Client({ connectionString: api.hub.ready.databaseUrl });
  await outside.connect();
  for (let each = 0; each < 3; each += 1) viewers.push((await clientWith(api.hub, VIEWER)).client);
});
afterAll(async () => {
  await outside.end();
  for (const viewer of viewers) await viewer.close();
  await api.close();
});

/** How many statements of the hub wait for a lock, by the pool that they came from. */
async function countBlocked(): Promise<Record<string, number>> {
  const rows = await api.hub.runtime.dataSource.query<{ pool: string; n: number }[]>(
    `SELECT split_part(application_name, ' ', 1) AS pool, count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ pool, n }) => [pool, n]));
}

/** Two principals ask for much more than there are connections, of a table that somebody has locked. */
async function ask(): Promise<Promise<ApiAnswer>[]> {
  await outside.query('BEGIN; LOCK TABLE event IN ACCESS EXCLUSIVE MODE');
  const events = `{ events(redisClusterId: "${encodeGlobalId('RedisCluster', randomUUID())}") { id } }`;
  const asked = viewers
    .slice(0, 2)
    .flatMap((viewer) => Array.from({ length: ASKED_BY_EACH }, () => viewer.query(events)));
  await vi.waitFor(async () => expect((await countBlocked())['atoll-hub-api']).toBeGreaterThan(3), WAIT);
  return asked;
}

describe('two callers who ask for more than there are connections', () => {
  it('take the reads of four connections each at most, and leave others theirs', async () => {
    const asked = await ask();
    expect(await countBlocked()).toEqual({ 'atoll-hub-api': 5 });
    const answers = await Promise.all([
      viewers[2]?.query('{ memberClusters { totalCount } }'),
      api.admin.query('{ hub { version } }'),
    ]);
    for (const answer of answers) expect(answer?.errors).toEqual([]);
    expect(await countBlocked()).toEqual({ 'atoll-hub-api': 5 });
    await outside.query('COMMIT');
    for (const answer of await Promise.all(asked)) expect(answer.errors).toEqual([]);
  });

  it('hold up neither readiness, nor tokens, nor the status of agents', async () => {
    const asked = await ask();
    expect(await lookAt(api.hub, '/readyz')).toBe(200);
    const { agent } = await openSession(api.hub, api.agent);
    const item = { namespace: 'default', name: 'cache', uid: 'uid', kind: 'RedisCluster', conditions: [], pods: [] };
    agent.send('StatusBatch', { counter: 0, items: [{ ...item, foreignFields: [] }] });
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    agent.close();
    // A token that was not seen before.
    const { client } = await clientWith(api.hub, VIEWER);
    expect((await client.query('{ viewer { name } }')).errors).toEqual([]);
    await client.close();
    expect(await lookAt(api.hub, '/readyz')).toBe(200);
    expect(await countBlocked()).toEqual({ 'atoll-hub-api': 5 });
    await outside.query('COMMIT');
    await Promise.all(asked);
  });
});

describe('a read that the database does not end', () => {
  it('is stopped after five seconds, with a code and what to do', async () => {
    await outside.query('BEGIN; LOCK TABLE project IN ACCESS EXCLUSIVE MODE');
    const answer = await api.admin.query('{ projects { id } }');
    await outside.query('COMMIT');
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TIMEOUT' } }]);
    expect(answer.errors[0]?.message).toContain('try again later');
    expect(await countBlocked()).toEqual({});
  });
});

describe('a mutation', () => {
  it('waits ten seconds for a lock and answers with a code, also where a read would have been stopped', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    await outside.query('BEGIN');
    await outside.query('SELECT 1 FROM resource WHERE hub_uid = $1 FOR UPDATE', [hubUid]);
    const document =
      'mutation M($input: DeleteRedisClusterInput!) { deleteRedisCluster(input: $input) { userErrors { code } } }';
    const answer = await api.admin.query(document, { input: { id, expectedGeneration: null } });
    await outside.query('COMMIT');
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', reason: 'DATABASE_LOCKED' } }]);
  });
});
