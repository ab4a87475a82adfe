import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { ApiClient } from '../../../test/api-client.ts';
import { RawRequest } from '../../../test/raw-request.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { WAIT } from '../../../test/wait.ts';
import { AuthenticationService } from '../auth/index.ts';

const JSON_TYPE = 'Content-Type: application/json';
const WRONG = 'Authorization: Bearer a-token-that-nobody-has';

let hub: TestHub;
let admin: ApiClient;
let nobody: ApiClient;
const open: RawRequest[] = [];
const connect = async (): Promise<RawRequest> => {
  const raw = await RawRequest.open(hub);
  open.push(raw);
  return raw;
};
/** The texts that were parsed as JSON by the hub, which runs in this process. */
const parsedTexts = (): readonly string[] => vi.mocked(JSON.parse).mock.calls.map(([text]) => text);

beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
  admin = await ApiClient.admin(hub);
  nobody = new ApiClient(hub, 'a-token-that-nobody-has');
});
afterEach(() => {
  vi.restoreAllMocks();
  for (const raw of open.splice(0)) raw.socket.destroy();
});
afterAll(async () => {
  await Promise.all([admin.close(), nobody.close()]);
  await hub.close();
});

describe('a request without a valid token', () => {
  it.each([
    ['/graphql', WRONG, 401],
    ['/graphql', 'X-Token: none', 401],
    ['/nope', WRONG, 404],
    ['/livez', WRONG, 404],
  ])('to %s with a megabyte is answered, closed, and nothing of its body is parsed', async (path, header, status) => {
    vi.spyOn(JSON, 'parse');
    const head = [`POST ${path} HTTP/1.1`, 'Host: hub', JSON_TYPE, header, `Content-Length: ${1024 * 1024}`];
    const raw = (await connect()).send(...head, '', '{"query":"{ hub { version } }", "x": "');
    const answer = await raw.untilClosed();
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/connection: close/i);
    expect(parsedTexts().filter((text) => text.includes('query'))).toEqual([]);
  });

  it('with a body in chunks without an end is answered and closed', async () => {
    const raw = (await connect()).send(
      'POST /graphql HTTP/1.1',
      'Host: hub',
      JSON_TYPE,
      WRONG,
      'Transfer-Encoding: chunked',
      '',
      '1',
      '{',
      '',
    );
    expect(await raw.untilClosed()).toMatch(/^HTTP\/1.1 401 /);
  });

  it('and with a short body is answered, and its connection stays', async () => {
    vi.spyOn(JSON, 'parse');
    const body = JSON.stringify({ query: '{ hub { version } }' });
    const production = await startTestHub(hub.runtime.databaseUrl, { like: hub, environment: 'production' });
    const raw = await RawRequest.open(production);
    const request = [
      'POST /graphql HTTP/1.1',
      'Host: hub',
      JSON_TYPE,
      WRONG,
      `Content-Length: ${body.length}`,
      '',
      body,
    ];
    raw.send(...request);
    await vi.waitFor(() => expect(raw.text).toMatch(/^HTTP\/1.1 401 [^]*UNAUTHENTICATED/), WAIT);
    raw.send(...request);
    await vi.waitFor(() => expect(raw.text.match(/HTTP\/1.1 401 /g)).toHaveLength(2), WAIT);
    raw.socket.destroy();
    await production.close();
    expect(parsedTexts().filter((text) => text.includes('query'))).toEqual([]);
  });

  it('a thousand of them in one packet are not worked off: the connection is cut', async () => {
    const authenticate = vi.spyOn(hub.app.get(AuthenticationService), 'authenticate');
    const one = ['POST /graphql HTTP/1.1', 'Host: hub', JSON_TYPE, WRONG, 'Content-Length: 2', '', '{}'].join('\r\n');
    const raw = (await connect()).send(one.repeat(1_000));
    await raw.untilClosed();
    expect(authenticate.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['of 20 KiB of headers', ['GET /livez HTTP/1.1', 'Host: hub', `X: ${'x'.repeat(20_000)}`, '', ''], 431],
    ['that is no HTTP', ['nonsense', '', ''], 400],
    [
      'for an upgrade of another path',
      ['GET /other HTTP/1.1', 'Host: hub', 'Connection: Upgrade', 'Upgrade: websocket', '', ''],
      404,
    ],
    [
      'for an upgrade to something else',
      ['GET /graphql HTTP/1.1', 'Host: hub', 'Connection: Upgrade', 'Upgrade: h2c', '', ''],
      400,
    ],
    [
      'for an upgrade of a path that is no path',
      ['GET // HTTP/1.1', 'Host: hub', 'Connection: Upgrade', 'Upgrade: websocket', '', ''],
      404,
    ],
  ])('%s is refused and closed', async (_what, lines, status) => {
    const raw = (await connect()).send(...lines);
    expect(await raw.untilClosed()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

describe('every answer of the API', () => {
  it.each([
    ['health', 'GET /livez HTTP/1.1', 200],
    ['an unknown path', 'GET /nope HTTP/1.1', 404],
    ['GraphiQL', 'GET /graphiql HTTP/1.1', 200],
    ['a query by GET', 'GET /graphql?query={hub{version}} HTTP/1.1', 405],
    ['no token', 'POST /graphql HTTP/1.1', 403],
    ['no HTTP', 'nonsense', 400],
  ])('keeps browsers to TLS and to its type: %s', async (_what, line, status) => {
    const raw = (await connect()).send(line, 'Host: hub', 'Connection: close', '', '');
    const answer = await raw.untilClosed();
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/^x-content-type-options: nosniff\r$/m);
    expect(answer).toMatch(/^strict-transport-security: max-age=\d+\r$/m);
    if (!line.includes('graphiql')) expect(answer).toMatch(/^cache-control: no-store\r$/m);
  });

  it('is 405 for a GET, which changes and reads nothing, and names POST', async () => {
    const query = encodeURIComponent('{ hub { version } }');
    const raw = (await connect()).send(
      `GET /graphql?query=${query} HTTP/1.1`,
      'Host: hub',
      'Connection: close',
      '',
      '',
    );
    const answer = await raw.untilClosed();
    expect(answer).toMatch(/^allow: POST\r$/m);
    expect(answer).toContain('METHOD_NOT_ALLOWED');
    expect((await admin.query('{ hub { version } }')).status).toBe(200);
  });
});
