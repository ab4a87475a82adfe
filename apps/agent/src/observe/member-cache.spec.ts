import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LABEL, SCOPE_CONFIG_MAP } from '#domain';
import type { KubeObject, RedisClusterObject, Scope } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { FakeKubeServer, connectFakeKube } from '#testing';
import { MemberCache } from './member-cache.ts';

let server: FakeKubeServer;
let client: KubeClient;
let abort: AbortController;
let woken: string[];
let changed: string[];

const make = (scope: Scope, namespaces: readonly string[] = []): MemberCache =>
  new MemberCache({
    client,
    scope,
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    namespaces,
    signal: abort.signal,
    hashOf: (resource: RedisClusterObject) => `hash-${resource.metadata.name}`,
    onWake: (key) => woken.push(key),
    onResource: ({ key }) => changed.push(`${key.namespace}/${key.name}`),
    onFailure: () => undefined,
  });
const start = async (scope: Scope = { kind: 'CLUSTER' }, namespaces?: readonly string[]): Promise<MemberCache> => {
  const cache = make(scope, namespaces);
  await cache.whenSynced();
  woken.length = 0;
  changed.length = 0;
  return cache;
};

const resource = (name: string, namespace = 'shop'): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name, namespace },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
});
const service = (name: string, hash: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop', labels: { [LABEL.dataSet]: hash } },
  spec: { ports: [{ port: 6379 }] },
});
const seen = (key: string): Promise<void> => vi.waitFor(() => expect(woken).toContain(key), { timeout: 3_000 });
/** Long enough for an event of the fake server to have arrived. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

beforeEach(async () => {
  woken = [];
  changed = [];
  abort = new AbortController();
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
  await client.create(resource('a'));
  await client.create(resource('b'));
});
afterEach(async () => {
  abort.abort();
  await client.close();
  await server.stop();
});

describe('MemberCache', () => {
  it('wakes the RedisCluster whose child came, changed or went, and no other', async () => {
    const cache = await start();
    await client.create(service('s', 'hash-a'));
    await seen('shop/a');
    expect(cache.childrenOf('shop/a').map((child) => child.metadata.name)).toEqual(['s']);
    woken.length = 0;
    await client.patchMerge(RESOURCE.service, { namespace: 'shop', name: 's' }, { spec: { ports: [{ port: 1 }] } });
    await seen('shop/a');
    woken.length = 0;
    await client.delete(RESOURCE.service, { namespace: 'shop', name: 's' });
    await seen('shop/a');
    expect(cache.childrenOf('shop/a')).toEqual([]);
    expect(woken).not.toContain('shop/b');
  });

  it('leaves children of a data set alone that no RedisCluster claims, until one does', async () => {
    const cache = await start();
    await client.create(service('orphan', 'hash-c'));
    await settle();
    expect(woken).toEqual([]);
    await client.create(resource('c'));
    await seen('shop/c');
    expect(cache.childrenOf('shop/c')).toHaveLength(1);
  });

  it('does not wake for a change of status alone, and tells it to the link all the same', async () => {
    const cache = await start();
    const at = { namespace: 'shop', name: 'a' };
    await client.patchMerge(RESOURCE.redisCluster, at, { status: { phase: 'Ready' } }, { subresource: 'status' });
    await vi.waitFor(() => expect(changed).toEqual(['shop/a']), { timeout: 3_000 });
    expect(woken).toEqual([]);
    expect(cache.resource('shop/a')?.status?.phase).toBe('Ready');
    await client.patchMerge(RESOURCE.redisCluster, at, { metadata: { annotations: { x: '1' } } });
    await seen('shop/a');
  });

  it('wakes whoever has a pod on a node that came or went', async () => {
    await client.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: {} });
    await client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p-0', namespace: 'shop', labels: { [LABEL.dataSet]: 'hash-b' } },
      spec: { nodeName: 'n1' },
    });
    const cache = await start();
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patchMerge(RESOURCE.node, { name: 'n1' }, { status }, { subresource: 'status' });
    await seen('shop/b');
    expect(cache.nodes()).toEqual([{ name: 'n1', ready: true }]);
    expect(woken).not.toContain('shop/a');
  });

  it('wakes all of a namespace when its owner changes', async () => {
    const cache = await start();
    expect(cache.scopeRecord('shop')?.owner).toBeUndefined();
    await client.create(resource('elsewhere', 'other'));
    await seen('other/elsewhere');
    woken.length = 0;
    const metadata = { name: SCOPE_CONFIG_MAP, namespace: 'shop' };
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner: 'CLUSTER' } });
    await seen('shop/a');
    await seen('shop/b');
    expect(cache.scopeRecord('shop')?.owner).toBe('CLUSTER');
    expect(woken).not.toContain('other/elsewhere');
  });

  it('asks for nothing outside its namespace when that is its scope', async () => {
    await start({ kind: 'NAMESPACE', namespace: 'shop' });
    const outside = server.requests.filter(
      (request) => !request.path.includes('/namespaces/shop/') && request.method === 'GET',
    );
    expect(outside).toEqual([]);
  });

  describe('of a cluster-wide agent whose values name namespaces', () => {
    const WIDE: Scope = { kind: 'CLUSTER' };
    const forbid = (part: string): void => {
      const when = ({ path }: { readonly path: string }): boolean => path.includes(part);
      server.inject({ when, act: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 10_000 });
    };

    it('shows these as one picture, and asks for nothing namespaced outside of them', async () => {
      await client.create(resource('c', 'blog'));
      await client.create(resource('d', 'elsewhere'));
      const cache = await start(WIDE, ['shop', 'blog', 'shop']);
      expect(cache.keys().sort()).toEqual(['blog/c', 'shop/a', 'shop/b']);
      expect(cache.resource('blog/c')?.metadata.name).toBe('c');
      await client.create(service('a', 'hash-a'));
      await seen('shop/a');
      await client.create(resource('e', 'blog'));
      await seen('blog/e');
      const outside = server.requests.filter(
        ({ method, path }) => method === 'GET' && !/\/namespaces\/(shop|blog)\/|\/nodes|customresourcedef/.test(path),
      );
      expect(outside).toEqual([]);
    });

    it('is stale in a namespace that it may not look into, and there alone', async () => {
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blog' } });
      forbid('/namespaces/blog/');
      const cache = make(WIDE, ['shop', 'blog']);
      await vi.waitFor(() => expect(cache.isStale(100, 'shop')).toBe(false), { timeout: 3_000 });
      expect(cache.isStale(100, 'blog')).toBe(true);
      expect(cache.staleKinds(100)).toEqual([]);
      // Whoever counts must not take what it cannot see for absent.
      expect(cache.knowsResources(100)).toBe(false);
    });

    it('takes a namespace that is gone, and its RoleBinding with it, for empty', async () => {
      forbid('/namespaces/gone/');
      const cache = await start(WIDE, ['shop', 'gone']);
      await vi.waitFor(() => expect(cache.knowsResources(30_000)).toBe(true), { timeout: 3_000 });
      expect(cache.keys()).toEqual(['shop/a', 'shop/b']);
    });
  });

  it('is stale once the API server is away for longer than the limit', async () => {
    const cache = await start();
    // Fresh is what it is as long as its watches run, which may take a moment after the first list.
    await vi.waitFor(() => expect(cache.isStale(100, 'shop')).toBe(false), { timeout: 3_000 });
    await server.stop();
    await vi.waitFor(() => expect(cache.isStale(100, 'shop')).toBe(true), { timeout: 3_000 });
  });
});
