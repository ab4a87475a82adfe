import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { clientWith, createRedisCluster, startApi, type Api } from '../../../test/api-fixture.ts';
import { initWith, RawSocket } from '../../../test/raw-socket.ts';
import { WAIT } from '../../../test/wait.ts';
import { ChangeFeedService } from '../../features/events/index.ts';
import { AuthenticationService } from '../auth/index.ts';

const SUBSCRIBE = { id: '1', type: 'subscribe', payload: { query: 'subscription { fleetHealth { total } }' } };
const INIT = { type: 'connection_init' };

let api: Api;
let token: string;
const open: RawSocket[] = [];
const connect = async (): Promise<RawSocket> => {
  const raw = await RawSocket.open(api.hub);
  open.push(raw);
  return raw;
};
/** A socket whose token was accepted. */
const connectKnown = async (): Promise<RawSocket> => {
  const raw = (await connect()).send(initWith(token));
  await once(raw.socket, 'message');
  return raw;
};
const subscribe = (id: string, payload: object): object => ({ id, type: 'subscribe', payload });
/** The texts that were parsed as JSON by the hub, which runs in this process. */
const parsedTexts = (): readonly string[] => vi.mocked(JSON.parse).mock.calls.map(([text]) => text);
const errorsOf = (raw: RawSocket): readonly { message: string; extensions: { code: string; requestId: string } }[] =>
  raw.received
    .map((text) => JSON.parse(text) as { type: string; payload: never })
    .filter(({ type }) => type === 'error')
    .flatMap(({ payload }) => payload);

const begunIn = (raw: RawSocket): Set<unknown> =>
  new Set(
    raw.received
      .map((text) => JSON.parse(text) as { type: string; id?: string })
      .filter(({ type }) => type === 'next')
      .map(({ id }) => id),
  );

beforeAll(async () => {
  api = await startApi();
  token = (await readFile(api.hub.ready.adminTokenFile, 'utf8')).trim();
});
afterEach(() => {
  vi.restoreAllMocks();
  for (const raw of open.splice(0)) raw.socket.terminate();
});
afterAll(() => api.close());

describe('a stranger at the WebSocket of the API', () => {
  it.each([
    ['a subscription', SUBSCRIBE],
    ['no token', INIT],
    ['a wrong token', initWith('a-token-that-nobody-has')],
    ['what is no token', { type: 'connection_init', payload: { authorization: { a: 1 } } }],
    ['a ping of the protocol', { type: 'ping' }],
  ])('who begins with %s is closed with 4403, and nothing behind that is read', async (_what, first) => {
    const authenticate = vi.spyOn(api.hub.app.get(AuthenticationService), 'authenticate');
    vi.spyOn(JSON, 'parse');
    const raw = (await connect()).send(first, initWith(token), SUBSCRIBE);
    expect(await raw.closed).toBe(4403);
    expect(parsedTexts().filter((text) => text.includes('"type"'))).toEqual([JSON.stringify(first)]);
    expect(authenticate.mock.calls.length).toBeLessThanOrEqual(1);
    expect(raw.received).toEqual([]);
  });

  it('who begins with more than 4 KiB is closed before any of it is parsed', async () => {
    vi.spyOn(JSON, 'parse');
    const query = `subscription { ${'a '.repeat(500_000)} }`;
    const raw = (await connect()).send(subscribe('1', { query }));
    expect([4403, 1006]).toContain(await raw.closed);
    const padded = (await connect()).send({ ...initWith(token), padding: 'x'.repeat(4_096) });
    expect(await padded.closed).toBe(4403);
    expect(parsedTexts().filter((text) => text.includes('"type"'))).toEqual([]);
  });

  it('who sends a ping frame is closed', async () => {
    const raw = await connect();
    raw.socket.ping();
    expect(await raw.closed).toBe(4403);
  });

  it('who asks for another protocol is closed with 4406', async () => {
    const raw = await RawSocket.open(api.hub, []);
    expect(await raw.closed).toBe(4406);
  });
});

describe('a client with a token at the WebSocket', () => {
  it('who sends connection_init again is closed with 4429, before and after the answer', async () => {
    const early = (await connect()).send(initWith(token), initWith(token));
    expect(await early.closed).toBe(4429);
    const late = (await connectKnown()).send(initWith(token));
    expect(await late.closed).toBe(4429);
  });

  it('leaves no timer behind, however often it sent connection_init', async () => {
    const begun = new Set<unknown>();
    const { setInterval, setTimeout, clearInterval, clearTimeout } = globalThis;
    // 10 s for the first frame, 20 s from beat to beat; what runs for a shorter time ends by itself.
    vi.spyOn(globalThis, 'setInterval').mockImplementation((...args: Parameters<typeof setInterval>) => {
      const timer = setInterval(...args);
      if (Number(args[1]) >= 10_000) begun.add(timer);
      return timer;
    });
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((...args: Parameters<typeof setTimeout>) => {
      const timer = setTimeout(...args);
      if (Number(args[1]) >= 10_000) begun.add(timer);
      return timer;
    });
    const end = (timer: unknown): void => void begun.delete(timer);
    vi.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => (end(timer), clearInterval(timer)));
    vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => (end(timer), clearTimeout(timer)));
    const raw = await connectKnown();
    expect(begun.size).toBeGreaterThan(0);
    await raw.send(initWith(token), initWith(token), initWith(token)).closed;
    await vi.waitFor(() => expect(begun.size).toBe(0), WAIT);
  });

  it('sends text: an AST in its place, and a binary frame, close it', async () => {
    const ast = { kind: 'Document', definitions: [] };
    const tree = (await connectKnown()).send(subscribe('1', { query: ast }));
    expect(await tree.closed).toBe(4400);
    const binary = (await connectKnown()).send(Buffer.from(JSON.stringify(SUBSCRIBE)));
    expect(await binary.closed).toBe(1003);
  });

  it('sends at most 64 KiB a frame', async () => {
    const raw = (await connectKnown()).send(subscribe('1', { query: `# ${'x'.repeat(70_000)}` }));
    expect(await raw.closed).toBe(1009);
  });

  it.each([
    ['tokens', `subscription { fleetHealth { ${'total '.repeat(6_000)} } }`, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'depth',
      `subscription { redisCluster(id: "x") { redisCluster ${'{ memberCluster { agents '.repeat(7)}{ id } ${'} }'.repeat(7)} } }`,
      'QUERY_TOO_DEEP',
    ],
    [
      'cost',
      `subscription S($first: Int) { fleetHealth(first: $first) { ${Array.from({ length: 60 }, (_, i) => `f${i}: groups { key total }`).join(' ')} } }`,
      'QUERY_TOO_COSTLY',
    ],
    ['kind', '{ hub { version } }', 'BAD_REQUEST'],
    ['kind', 'mutation { __typename }', 'BAD_REQUEST'],
    ['fields', 'subscription { nope }', 'GRAPHQL_VALIDATION_FAILED'],
    ['variables', 'subscription S($id: ID!) { redisCluster(id: $id) { cursor } }', 'GRAPHQL_VALIDATION_FAILED'],
  ])('has the limits of HTTP: %s', async (_limit, query, code) => {
    const raw = (await connectKnown()).send(subscribe('1', { query, variables: { first: 500 } }));
    await vi.waitFor(() => expect(errorsOf(raw)).not.toEqual([]), WAIT);
    expect(errorsOf(raw)[0]?.extensions).toEqual({ code, requestId: expect.any(String) as string });
    expect(raw.types).toEqual(['connection_ack', 'error']);
  });

  it('learns nothing of an error of the hub, at the begin or later', async () => {
    const raw = await connectKnown();
    vi.spyOn(api.hub.runtime.pools.api, 'query').mockRejectedValue(new Error('relation "secret" does not exist'));
    raw.send(SUBSCRIBE);
    await vi.waitFor(() => expect(errorsOf(raw)).not.toEqual([]), WAIT);
    expect(errorsOf(raw)[0]?.extensions.code).toBe('INTERNAL');
    expect(raw.received.join()).not.toContain('secret');
  });

  it('has one document at a time prepared: the next is not parsed before the one before has begun', async () => {
    const raw = await connectKnown();
    let answer = (): void => undefined;
    const authentication = api.hub.app.get(AuthenticationService);
    const viewer = await authentication.authenticate(`Bearer ${token}`);
    const held = new Promise<typeof viewer>((done) => (answer = () => done(viewer)));
    const authenticate = vi.spyOn(authentication, 'authenticate').mockReturnValueOnce(held);
    vi.spyOn(JSON, 'parse');
    raw.send(SUBSCRIBE, { ...SUBSCRIBE, id: '2' });
    await vi.waitFor(() => expect(authenticate).toHaveBeenCalled(), WAIT);
    const subscribed = (): readonly string[] => parsedTexts().filter((text) => text.includes('"subscribe"'));
    expect(subscribed()).toHaveLength(1);
    answer();
    await vi.waitFor(() => expect(subscribed()).toHaveLength(2), WAIT);
  });

  it('whose token is revoked begins nothing more', async () => {
    const { tokenHash, token: other } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: null }]);
    const raw = (await connect()).send(initWith(other));
    await once(raw.socket, 'message');
    await api.hub.runtime.dataSource.query('UPDATE api_token SET revoked_at = now() WHERE token_hash = $1', [
      tokenHash,
    ]);
    let asked = 0;
    await vi.waitFor(() => {
      raw.send({ ...SUBSCRIBE, id: `${(asked += 1)}` });
      expect(errorsOf(raw)[0]?.extensions.code).toBe('UNAUTHENTICATED');
    }, WAIT);
  });

  it('stays when the database cannot say whose token it is, and goes when the token was revoked', async () => {
    const authentication = api.hub.app.get(AuthenticationService);
    const beats: (() => void)[] = [];
    const { setInterval } = globalThis;
    vi.spyOn(globalThis, 'setInterval').mockImplementation(((beat: () => void, ms: number) => {
      if (ms === 20_000) beats.push(beat);
      return setInterval(beat, ms);
    }) as typeof setInterval);
    const raw = await connectKnown();
    const pings: unknown[] = [];
    raw.socket.on('ping', () => pings.push(1));
    const authenticate = vi.spyOn(authentication, 'authenticate').mockRejectedValue(new Error('down'));
    for (const beat of beats) beat();
    await vi.waitFor(() => expect(pings).toHaveLength(1), WAIT);
    // Once it is answered, the hub has heard of this client since the beat.
    raw.send({ type: 'ping' });
    await vi.waitFor(() => expect(raw.types).toContain('pong'), WAIT);
    authenticate.mockResolvedValue(undefined);
    for (const beat of beats) beat();
    expect(await raw.closed).toBe(4403);
  });

  it('frees the watchers of all its subscriptions when it goes', async () => {
    const { id } = await createRedisCluster(api);
    const raw = await connectKnown();
    const query = `subscription { redisCluster(id: "${id}") { cursor } }`;
    raw.send(...['1', '2', '3'].map((each) => subscribe(each, { query })));
    await vi.waitFor(() => expect(begunIn(raw)).toEqual(new Set(['1', '2', '3'])), WAIT);
    raw.socket.terminate();
    const { watchers } = api.hub.app.get<{ readonly watchers: Map<string, unknown> }>(ChangeFeedService);
    await vi.waitFor(() => expect([...watchers.keys()]).toEqual([]), WAIT);
  });
});
