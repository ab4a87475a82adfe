import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKubeClient, crdSchemaHash, type KubeClient, RESOURCE } from '#kube';
import { connectFakeKube, FakeKubeServer } from '#testing';
import {
  keepOwnDefinition,
  type OwnDefinition,
  type OwnDefinitionOptions,
  REDIS_CLUSTER_DEFINITION,
  REDIS_OPERATION_DEFINITION,
} from './own-definition.ts';

const { object: carriedDefinition } = REDIS_CLUSTER_DEFINITION;
const { name } = carriedDefinition.metadata;
const at = { namespace: 'n', name: 'a' };

describe('the definition that the agent carries', () => {
  let server: FakeKubeServer;
  let client: KubeClient;
  let abort: AbortController;
  let logged: string[];
  let kept: OwnDefinition[];
  beforeEach(async () => {
    server = await FakeKubeServer.start();
    client = createKubeClient(connectFakeKube(server), { userAgent: 'unit/1', requestTimeoutMs: 5_000 });
    abort = new AbortController();
    logged = [];
    kept = [];
  });
  afterEach(async () => {
    abort.abort();
    await Promise.all(kept.map(({ done }) => done));
    await client.close();
    await server.stop();
  });

  const keep = (more: Partial<OwnDefinitionOptions> = {}): OwnDefinition => {
    const definition = keepOwnDefinition({
      client,
      definition: REDIS_CLUSTER_DEFINITION,
      signal: abort.signal,
      manage: true,
      mayWrite: () => true,
      log: (_level, message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`),
      checkIntervalMs: 50,
      ...more,
    });
    kept.push(definition);
    return definition;
  };
  const live = () => client.find(RESOURCE.customResourceDefinition, { name });
  const writes = () => server.requests.filter(({ method }) => method === 'PATCH').length;

  it('is brought and known by its schema hash', async () => {
    const definition = keep();
    expect(definition.schemaHash).toBe('');
    await definition.whenServed;
    expect(definition.schemaHash).toBe(crdSchemaHash(carriedDefinition));
    expect(logged.join()).toContain('CREATED');
    expect(writes()).toBe(1);
  });

  it('is brought for RedisOperations beside, and a newer one of somebody else is kept', async () => {
    const { object } = REDIS_OPERATION_DEFINITION;
    const newer = { ...object.metadata, annotations: { 'redis.atoll.dev/crd-version': '999' } };
    await client.create({ ...object, metadata: newer });
    const [clusters, operations] = [keep(), keep({ definition: REDIS_OPERATION_DEFINITION })];
    await Promise.all([clusters.whenServed, operations.whenServed]);
    await expect.poll(() => operations.state).toMatchObject({ kind: 'PRESENT', version: 999 });
    expect(writes()).toBe(1);
    expect(clusters.schemaHash).not.toBe(operations.schemaHash);
  });

  it('is not written by a process that may not write, until it may', async () => {
    let mayWrite = false;
    const definition = keep({ mayWrite: () => mayWrite });
    await expect.poll(() => definition.state?.kind).toBe('ABSENT');
    expect(writes()).toBe(0);
    mayWrite = true;
    await definition.whenServed;
  });

  it('is only looked at when somebody else brings it', async () => {
    const definition = keep({ manage: false });
    await expect.poll(() => definition.state?.kind).toBe('ABSENT');
    await client.create(carriedDefinition);
    await definition.whenServed;
    expect(writes()).toBe(0);
  });

  it('is made anew once its objects are let go, after somebody deleted it', async () => {
    const definition = keep();
    await definition.whenServed;
    const before = await live();
    const metadata = { ...at, finalizers: ['redis.atoll.dev/children'] };
    await client.create({ apiVersion: RESOURCE.redisCluster.apiVersion, kind: 'RedisCluster', metadata });
    await client.delete(RESOURCE.customResourceDefinition, { name });
    await expect.poll(() => definition.state?.kind).toBe('TERMINATING');
    expect(definition.schemaHash).toBe('');
    await client.patchMerge(RESOURCE.redisCluster, at, { metadata: { finalizers: null } });
    await expect.poll(() => definition.state?.kind).toBe('PRESENT');
    expect((await live())?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(await client.find(RESOURCE.redisCluster, at)).toBeUndefined();
  });

  it('is not written when the lease was lost while waiting for the old one to go', async () => {
    let mayWrite = true;
    const metadata = { ...carriedDefinition.metadata, finalizers: ['contract/held'] };
    await client.create({ ...carriedDefinition, metadata });
    await client.delete(RESOURCE.customResourceDefinition, { name });
    const definition = keep({ mayWrite: () => mayWrite });
    await expect.poll(() => definition.state?.kind).toBe('TERMINATING');
    mayWrite = false;
    await client.patchMerge(RESOURCE.customResourceDefinition, { name }, { metadata: { finalizers: null } });
    await expect.poll(() => definition.state?.kind).toBe('ABSENT');
    expect(server.requests.some(({ query }) => query.has('force'))).toBe(false);
  });

  it('is waited for while the API server is away', async () => {
    await server.stop();
    const definition = keep();
    await expect.poll(() => logged.join()).toContain('not brought');
    expect(definition.state).toBeUndefined();
    await server.listen();
    await definition.whenServed;
  });

  it('that never came is told to those who wait when the agent ends', async () => {
    const definition = keep({ mayWrite: () => false });
    abort.abort();
    await expect(definition.whenServed).rejects.toThrow('stopped');
  });
});
