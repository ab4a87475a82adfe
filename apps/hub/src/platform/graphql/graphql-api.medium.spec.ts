import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../test/api-client.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';

describe('the GraphQL endpoint', () => {
  let hub: TestHub;
  let production: TestHub;
  let admin: ApiClient;
  let nobody: ApiClient;

  beforeAll(async () => {
    const database = await createTestDatabase();
    hub = await startTestHub(database);
    production = await startTestHub(database, { like: hub, environment: 'production' });
    admin = await ApiClient.admin(hub);
    nobody = new ApiClient(hub, 'a-token-that-nobody-has');
  });
  afterAll(async () => {
    await Promise.all([admin.close(), nobody.close()]);
    await production.close();
    await hub.close();
  });
  const code = async (answer: ReturnType<ApiClient['query']>) => (await answer).errors[0]?.extensions.code;

  it('is the schema that is committed', async () => {
    const committed = await readFile(new URL('../../../../../schema.graphql', import.meta.url), 'utf8');
    const answer = await admin.query('{ __schema { types { name } } }');
    const served = (answer.data['__schema'] as unknown as { types: { name: string }[] }).types.map((type) => type.name);
    const named = [...committed.matchAll(/^(?:type|input|enum|interface|scalar) (\w+)/gm)].map((match) => match[1]);
    expect(served).toEqual(expect.arrayContaining(named));
  });

  it('answers nobody without a token', async () => {
    const answer = await nobody.query('{ hub { version } }');
    expect(answer.status).toBe(401);
    expect(answer.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(await code(new ApiClient(hub, undefined).query('{ hub { version } }'))).toBe('UNAUTHENTICATED');
  });

  it('shows its schema to GraphiQL, in production only to those with a token', async () => {
    const introspection = '{ __schema { queryType { name } } }';
    expect(await code(nobody.query(introspection))).toBeUndefined();
    expect(await code(nobody.query('{ __typename hub { version } }'))).toBe('UNAUTHENTICATED');
    expect(await code(new ApiClient(production, undefined).query(introspection))).toBe('UNAUTHENTICATED');
    expect(await code(new ApiClient(production, undefined).query('{ nope }'))).toBe('UNAUTHENTICATED');
    expect(await code((await ApiClient.admin(production)).query(introspection))).toBeUndefined();
  });

  it('serves GraphiQL in development and not in production', async () => {
    const page = (client: ApiClient) => client.send({ method: 'GET', search: '/../graphiql' });
    expect((await page(nobody)).text).toContain('<html');
    expect((await page(new ApiClient(production, undefined))).status).toBe(404);
  });

  it.each([
    ['a field that does not exist', '{ hub { nope } }', 'GRAPHQL_VALIDATION_FAILED', 400],
    ['half a query', '{ hub {', 'GRAPHQL_VALIDATION_FAILED', 400],
    [
      'a subscription by POST',
      'subscription { redisCluster(id: "x") { cursor } }',
      'SUBSCRIPTION_NEEDS_WEBSOCKET',
      400,
    ],
    [
      'too deep a query',
      `{ memberClusters { nodes ${'{ agents { memberCluster '.repeat(6)}{ id } ${'} }'.repeat(6)} } }`,
      'QUERY_TOO_DEEP',
      400,
    ],
    [
      'too costly a query',
      `{ ${[...'abcdef'].map((n) => `${n}: redisClusters(first: 100) { nodes { ${Array.from({ length: 40 }, (_, i) => `f${i}: id`).join(' ')} } }`).join(' ')} }`,
      'QUERY_TOO_COSTLY',
      400,
    ],
    [
      'a list that leads back to itself',
      `{ memberClusters(first: 1) { nodes ${'{ agents { memberCluster '.repeat(4)}{ id } ${'} }'.repeat(4)} } }`,
      'QUERY_TOO_COSTLY',
      400,
    ],
    ['a page that is too large', '{ audit(first: 101) { nodes { id } } }', 'BAD_USER_INPUT', 200],
  ])('refuses %s with its code', async (_what, query, expected, status) => {
    const answer = await admin.query(query);
    expect(answer.errors[0]?.extensions).toMatchObject({ code: expected, requestId: expect.any(String) as string });
    expect(answer.status).toBe(status);
  });

  it('refuses what a page of another origin could send', async () => {
    const query = '{ hub { version } }';
    const get = await admin.send({ method: 'GET', search: `?query=${encodeURIComponent(query)}` });
    expect([get.status, get.errors[0]?.extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    const simple = admin.send({ headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ query }) });
    expect(await code(simple)).toBe('CSRF_BLOCKED');
    const form = await admin.send({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `query=${encodeURIComponent(query)}`,
    });
    expect(form.status).toBeGreaterThanOrEqual(400);
  });

  it('keeps a given request id, and makes one otherwise', async () => {
    const body = JSON.stringify({ query: '{ hub { nope } }' });
    const answer = await admin.send({
      headers: { 'content-type': 'application/json', 'x-request-id': 'trace-12345678' },
      body,
    });
    expect(answer.errors[0]?.extensions).toMatchObject({ requestId: 'trace-12345678' });
  });

  it('answers the same when a query is compiled as when it is interpreted', async () => {
    const query = 'query Q($n: Int) { memberClusters(first: $n) { nodes { id } pageInfo { hasNextPage } totalCount } }';
    const answers = [];
    for (let run = 0; run < 4; run += 1) answers.push((await admin.query(query)).text);
    expect(new Set(answers).size).toBe(1);
  });

  it('says UNAVAILABLE, and nothing of the database, when a resolver cannot reach it', async () => {
    const lonely = await startTestHub(await createTestDatabase(), { like: hub });
    const client = await ApiClient.admin(lonely);
    await client.query('{ projects { id } }');
    const { driver } = lonely.runtime.pools.api as unknown as { driver: { master: { connect: unknown } } };
    driver.master.connect = (done: (error: Error) => void) =>
      done(Object.assign(new Error('connect ECONNREFUSED /secret/place'), { code: 'ECONNREFUSED' }));
    const answer = await client.query('{ projects { id } }');
    expect(answer.errors[0]?.extensions.code).toBe('UNAVAILABLE');
    expect(answer.text).not.toContain('secret');
    await client.close();
    await lonely.close().catch(() => undefined);
  });
});
