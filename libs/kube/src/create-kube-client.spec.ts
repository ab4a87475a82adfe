import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectFakeKube, FakeKubeServer } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import type { KubeConnection } from './kube-connection.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE, resourceOf } from './kube-resource.ts';

const at = { namespace: 'n', name: 'a' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: { k: '1' } };

describe('the client', () => {
  let server: FakeKubeServer;
  let client: KubeClient;
  beforeEach(async () => {
    server = await FakeKubeServer.start();
    client = createKubeClient(connectFakeKube(server), { userAgent: 'unit/1', requestTimeoutMs: 5_000 });
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const failure = async (promise: Promise<unknown>): Promise<KubeError> => {
    const error: unknown = await promise.catch((reason: unknown) => reason);
    if (error instanceof KubeError) return error;
    throw new Error(`no KubeError but ${String(error)}`);
  };

  it('uses one connection for requests that follow each other, and names itself', async () => {
    await client.create(object);
    for (let i = 0; i < 50; i += 1) await client.get(RESOURCE.configMap, at);
    expect(server.connections).toBe(1);
    expect(server.requests.every(({ headers }) => headers['user-agent'] === 'unit/1')).toBe(true);
  });

  it('gives up a request that gets no answer in time, and says that nothing is known', async () => {
    server.inject({ when: () => true, act: { kind: 'hang' }, times: Infinity });
    const hasty = createKubeClient(connectFakeKube(server), { userAgent: 'unit/1', requestTimeoutMs: 50 });
    const error = await failure(hasty.get(RESOURCE.configMap, at));
    expect(error).toMatchObject({ reason: 'TIMEOUT', isUnreachable: true });
    expect(error.message).toContain('50 ms');
    expect((await failure(hasty.get(RESOURCE.configMap, at, { timeoutMs: 20 }))).message).toContain('20 ms');
    await hasty.close();
  });

  it('ends a request at once when its signal is aborted, before or while it runs', async () => {
    server.inject({ when: () => true, act: { kind: 'hang' }, times: Infinity });
    const abort = new AbortController();
    const running = failure(client.get(RESOURCE.configMap, at, { signal: abort.signal, timeoutMs: 60_000 }));
    abort.abort();
    expect((await running).isAborted).toBe(true);
    expect((await failure(client.get(RESOURCE.configMap, at, { signal: abort.signal }))).isAborted).toBe(true);
  });

  it('repeats a read whose connection was cut, once, and a write never', async () => {
    await client.create(object);
    server.inject({ when: ({ method }) => method === 'GET', act: { kind: 'drop' } });
    expect(await client.get(RESOURCE.configMap, at)).toMatchObject({ data: { k: '1' } });
    server.inject({ when: ({ method }) => method === 'PUT', act: { kind: 'drop-after' } });
    const before = server.requests.length;
    const error = await failure(client.replace({ ...object, data: { k: '2' } }));
    expect(error).toMatchObject({ reason: 'CLOSED', isUnreachable: true });
    expect(server.requests.length - before).toBe(1);
    expect(await client.get(RESOURCE.configMap, at)).toMatchObject({ data: { k: '2' } });
  });

  it('tells a server that is down from one that says no', async () => {
    await server.stop();
    expect(await failure(client.get(RESOURCE.configMap, at))).toMatchObject({ reason: 'REFUSED', isUnreachable: true });
    await server.listen();
    expect((await failure(client.get(RESOURCE.configMap, at))).isNotFound()).toBe(true);
  });

  it('reads the token anew when the server refuses it', async () => {
    const guarded = await FakeKubeServer.start({ tokens: ['new'] });
    let token = 'old';
    const connection: KubeConnection = {
      ...connectFakeKube(guarded),
      credentials: () => Promise.resolve({ rejectUnauthorized: true, authorization: `Bearer ${token}` }),
      invalidate: () => {
        token = 'new';
      },
    };
    const renewing = createKubeClient(connection, { userAgent: 'unit/1' });
    await renewing.create(object);
    expect(guarded.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new']);
    await renewing.close();
    await guarded.stop();
  });

  it('opens new connections when the certificates change, and lets running watches end by themselves', async () => {
    let ca = 'first';
    const credentials = () => Promise.resolve({ rejectUnauthorized: true, ca });
    const rotating = createKubeClient({ ...connectFakeKube(server), credentials }, { userAgent: 'unit/1' });
    const seen: string[] = [];
    const abort = new AbortController();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const onEvent = ({ type }: { type: string }) => void seen.push(type);
    const watched = failure(rotating.watch(RESOURCE.configMap, { signal: abort.signal, onEvent, onOpen: resolve }));
    await open;
    ca = 'second';
    await rotating.create(object);
    await expect.poll(() => seen).toEqual(['ADDED']);
    expect(server.connections).toBe(2);
    abort.abort();
    expect((await watched).isAborted).toBe(true);
    await rotating.close();
  });

  it('reports credentials that cannot be read as such', async () => {
    const credentials = () => Promise.reject(new Error('ENOENT: token'));
    const lost = createKubeClient({ ...connectFakeKube(server), credentials }, { userAgent: 'unit/1' });
    expect(await failure(lost.get(RESOURCE.configMap, at))).toMatchObject({
      reason: 'CREDENTIALS',
      isUnreachable: true,
    });
  });

  it('sends deletes with their preconditions, and evictions to the eviction subresource', async () => {
    await client.create({ apiVersion: 'v1', kind: 'Pod', metadata: at });
    const wrong = await failure(client.evict(at, { uid: 'other' }));
    expect(wrong.isConflict()).toBe(true);
    const act = { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 10 } as const;
    server.inject({ when: ({ path }) => path.endsWith('/eviction'), act });
    expect(await failure(client.evict(at))).toMatchObject({ retryAfterMs: 10_000 });
    await client.evict(at);
    expect(await client.find(RESOURCE.pod, at)).toBeUndefined();
    await client.create(object);
    await client.delete(RESOURCE.configMap, at, {
      propagationPolicy: 'Orphan',
      resourceVersion: String(server.store.version),
    });
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ propagationPolicy: 'Orphan' });
  });

  it('keeps spec and status apart', async () => {
    const cluster = { apiVersion: 'redis.atoll.dev/v1alpha1', kind: 'RedisCluster', metadata: at };
    await client.apply({ ...cluster, spec: { mode: 'Sentinel' }, status: { phase: 'Ready' } }, { fieldManager: 'a' });
    const withStatus = await client.applyStatus({ ...cluster, status: { phase: 'Creating' } }, { fieldManager: 'b' });
    expect(withStatus).toMatchObject({
      spec: { mode: 'Sentinel' },
      status: { phase: 'Creating' },
      metadata: { generation: 1 },
    });
  });

  it('refuses a kind it does not know, and an object without its namespace, before any request', async () => {
    expect(() => resourceOf({ apiVersion: 'v1', kind: 'Nothing' })).toThrow('no resource');
    await expect(client.get(RESOURCE.pod, { name: 'a' })).rejects.toThrow('needs a namespace');
    await expect(client.create({ ...object, metadata: { name: 'a' } })).rejects.toThrow('needs a namespace');
    expect(server.requests).toHaveLength(0);
  });
});
