import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FINALIZER, SCOPE_CONFIG_MAP, asDataSetId } from '#domain';
import type { KubeObject, RedisClusterObject, RedisOperationObject, Scope } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { CURRENT_RENDER_VERSION, describeOwner, nameObjects, podName, renderRecord, volumeClaimName } from '#manifests';
import { FakeKubeServer, connectFakeKube, refuseUndeclared } from '#testing';
import { Operator } from './operator.ts';

const at = { namespace: 'shop', name: 'cache' };
let server: FakeKubeServer;
let client: KubeClient;
let operator: Operator;
let mayWrite: boolean;
let logs: string[];

const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'redisclusters.redis.atoll.dev' },
  spec: { group: 'redis.atoll.dev', versions: [] },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};
const resource: KubeObject = {
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: at,
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone', deletionPolicy: 'Delete' },
};
/** Of the status; see tools/crd/released/v0.1.0.json. */
const ADDED_AFTER_0_1_0 = ['primaryEngine', 'rollout', 'config', 'credentials', 'setAside', 'capabilities'];
const start = (scope: Scope = { kind: 'CLUSTER' }): void => {
  operator = new Operator({
    client,
    scope,
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    podName: 'agent-1',
    mayWrite: () => mayWrite,
    log: (level, message, fields) => logs.push(JSON.stringify({ level, message, fields })),
    onPass: () => undefined,
  });
};
const until = (test: () => Promise<void> | void): Promise<void> => vi.waitFor(test, { timeout: 6_000, interval: 20 });
const live = (): Promise<RedisClusterObject> => client.get<RedisClusterObject>(RESOURCE.redisCluster, at);
const written = (): number => server.requests.filter(({ method }) => method !== 'GET').length;
const namesOfLive = async () => nameObjects('cache', asDataSetId((await live()).metadata.uid ?? ''));

beforeEach(async () => {
  mayWrite = true;
  logs = [];
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
  await client.create(definition);
});
afterEach(async () => {
  await operator.stop();
  await client.close();
  await server.stop();
});

describe('Operator', () => {
  it('claims the namespace, then makes everything of a new RedisCluster and says so in its status', async () => {
    start();
    await client.create(resource);
    const names = await namesOfLive();
    await until(async () => {
      expect(await client.find(RESOURCE.statefulSet, { namespace: 'shop', name: names.redis })).toBeDefined();
      expect((await live()).status?.dataSetId).toBe((await live()).metadata.uid);
    });
    const scope = await client.get(RESOURCE.configMap, { namespace: 'shop', name: SCOPE_CONFIG_MAP });
    expect(scope['data']).toEqual({ owner: 'CLUSTER' });
    expect((await live()).metadata.finalizers).toEqual([FINALIZER]);
    const password = (
      (await client.get(RESOURCE.secret, { namespace: 'shop', name: names.credentialsSecret }))['data'] as {
        app: string;
      }
    ).app;
    const events = await client.listAll(RESOURCE.event, { namespace: 'shop' });
    const told = JSON.stringify([(await live()).status, events.items, logs]);
    expect(told).not.toContain(password);
    expect(told).not.toContain(Buffer.from(password, 'base64').toString());
  });

  it('brings back what somebody deleted or edited', async () => {
    start();
    await client.create(resource);
    const service = { namespace: 'shop', name: 'cache' };
    await until(async () => expect(await client.find(RESOURCE.service, service)).toBeDefined());
    await client.patchMerge(RESOURCE.service, service, { spec: { selector: { somebody: 'else' } } });
    await until(async () => {
      const spec = (await client.get(RESOURCE.service, service))['spec'] as { selector: Record<string, string> };
      expect(Object.keys(spec.selector)).toContain('redis.atoll.dev/data-set');
    });
    await client.delete(RESOURCE.service, service);
    await until(async () => expect(await client.find(RESOURCE.service, service)).toBeDefined());
  });

  it('publishes the connection anew when it tells another password', async () => {
    const connection = { namespace: 'shop', name: 'cache-connection' };
    await client.create(resource);
    const { credentialsSecret } = await namesOfLive();
    const credentials = { namespace: 'shop', name: credentialsSecret };
    const passwordIn = async (at: typeof connection, key: string) =>
      ((await client.find(RESOURCE.secret, at))?.['data'] as Record<string, string> | undefined)?.[key];
    start();
    await until(async () => expect(await passwordIn(connection, 'password')).toBeDefined());
    await operator.stop();
    await client.patchMerge(RESOURCE.secret, connection, { data: { password: 'd3Jvbmc=' } });
    start();
    await until(async () =>
      expect(await passwordIn(connection, 'password')).toBe(await passwordIn(credentials, 'app')),
    );
  });

  it('notes a claim that was restored without labels before its pod can exist', async () => {
    const storage = { type: 'PersistentVolume', size: '1Gi' } as const;
    await client.create({
      ...resource,
      spec: { ...(resource['spec'] as object), mode: 'Replication', size: 1, storage },
    });
    const uid = asDataSetId((await live()).metadata.uid ?? '');
    const names = nameObjects('cache', uid);
    const owner = describeOwner({ ...at, dataSetId: uid, renderVersion: CURRENT_RENDER_VERSION });
    const primaryPod = podName(names.redis, 0);
    const record = {
      dataSetId: uid,
      primaryTerm: 1,
      primaryPod,
      primaryVersion: '8.0.2',
      renderVersion: CURRENT_RENDER_VERSION,
    };
    await client.create(renderRecord(owner, names.record, record));
    start();
    const set = { namespace: 'shop', name: names.redis };
    await until(async () => expect(await client.find(RESOURCE.statefulSet, set)).toBeDefined());
    const metadata = { namespace: 'shop', name: volumeClaimName(podName(names.redis, 1)) };
    await client.create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: {} });
    await client.patchMerge(RESOURCE.redisCluster, at, { spec: { size: 2 } });
    const replicas = async () =>
      ((await client.get(RESOURCE.statefulSet, set))['spec'] as { readonly replicas: number }).replicas;
    await until(async () => expect(await replicas()).toBe(2));
    const settings = (await client.get(RESOURCE.configMap, { namespace: 'shop', name: names.config }))['data'];
    expect(JSON.stringify(settings)).toMatch(/RETURNING=1:\d+/);
  });

  it('does nothing in a namespace that belongs to another agent', async () => {
    const metadata = { name: SCOPE_CONFIG_MAP, namespace: 'shop' };
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner: 'NAMESPACE/shop' } });
    await client.create(resource);
    const before = written();
    start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await live()).metadata.finalizers ?? []).toEqual([]);
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'cache' })).toBeUndefined();
    expect(written()).toBe(before);
  });

  it('writes nothing without the Lease, and begins when it holds it', async () => {
    mayWrite = false;
    await client.create(resource);
    const before = written();
    start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(written()).toBe(before);
    mayWrite = true;
    await until(async () => expect((await live()).metadata.finalizers).toEqual([FINALIZER]));
  });

  it('deletes the children by policy and then lets the object go', async () => {
    start();
    await client.create(resource);
    await until(async () => expect(await client.find(RESOURCE.service, at)).toBeDefined());
    await until(async () => expect((await live()).status?.phase).toBeDefined());
    const names = await namesOfLive();
    await client.delete(RESOURCE.redisCluster, at);
    await until(async () => expect(await client.find(RESOURCE.redisCluster, at)).toBeUndefined());
    for (const [kind, name] of [
      [RESOURCE.statefulSet, names.redis],
      [RESOURCE.service, 'cache'],
      [RESOURCE.secret, names.credentialsSecret],
      [RESOURCE.configMap, names.config],
    ] as const) {
      expect(await client.find(kind, { namespace: 'shop', name }), name).toBeUndefined();
    }
  });

  it('lets the object go and keeps every child when the definition itself is being deleted', async () => {
    start();
    await client.create(resource);
    await until(async () => expect(await client.find(RESOURCE.service, at)).toBeDefined());
    await until(async () => expect((await live()).metadata.finalizers).toEqual([FINALIZER]));
    const names = await namesOfLive();
    await client.patchMerge(
      RESOURCE.customResourceDefinition,
      { name: definition.metadata.name },
      { metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } },
    );
    await client.delete(RESOURCE.customResourceDefinition, { name: definition.metadata.name });
    await client.delete(RESOURCE.redisCluster, at);
    await until(async () => expect(await client.find(RESOURCE.redisCluster, at)).toBeUndefined());
    expect(await client.find(RESOURCE.statefulSet, { namespace: 'shop', name: names.redis })).toBeDefined();
    expect(await client.find(RESOURCE.secret, { namespace: 'shop', name: names.credentialsSecret })).toBeDefined();
  });

  it.each<Scope>([{ kind: 'CLUSTER' }, { kind: 'NAMESPACE', namespace: 'shop' }])(
    'goes on with the definitions of release 0.1.0, and takes up operations when there is such a kind: %o',
    async (scope) => {
      const noKind = { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' };
      server.inject({
        when: ({ path }) => path.includes('/redisoperations'),
        act: { kind: 'status', ...noKind },
        times: Infinity,
      });
      for (const field of ADDED_AFTER_0_1_0) refuseUndeclared(server, field);
      await client.create(resource);
      start(scope);
      const names = await namesOfLive();
      await until(async () => {
        expect(await client.find(RESOURCE.statefulSet, { namespace: 'shop', name: names.redis })).toBeDefined();
        expect((await live()).status?.phase).toBeDefined();
      });
      expect(operator.cache.staleKinds(60_000)).toEqual([]);
      server.clearFaults();
      await client.create({
        apiVersion: 'redis.atoll.dev/v1alpha1',
        kind: 'RedisOperation',
        metadata: { name: 'again', namespace: 'shop' },
        spec: { redisCluster: 'cache', type: 'Restart' },
      });
      await until(async () => {
        const at = { namespace: 'shop', name: 'again' };
        expect((await client.get<RedisOperationObject>(RESOURCE.redisOperation, at)).status?.phase).toBeDefined();
      });
    },
    15_000,
  );
});
