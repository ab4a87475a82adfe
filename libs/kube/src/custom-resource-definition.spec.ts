import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '#domain';
import { connectFakeKube, FakeKubeServer } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import { CRD_VERSION_ANNOTATION, crdSchemaHash, crdStateOf, crdVersionOf } from './custom-resource-definition.ts';
import { decideCrdAction, ensureCustomResourceDefinition } from './ensure-custom-resource-definition.ts';
import type { KubeClient } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE } from './kube-resource.ts';
import { readCrdState } from './read-crd-state.ts';

const name = 'redisclusters.redis.atoll.dev';
const definition = (version: number | string, field = 'size', more: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name, annotations: { [CRD_VERSION_ANNOTATION]: String(version) }, ...more },
  spec: {
    group: 'redis.atoll.dev',
    names: { plural: 'redisclusters', kind: 'RedisCluster' },
    versions: [{ name: 'v1alpha1', schema: { openAPIV3Schema: { properties: { [field]: { type: 'integer' } } } } }],
  },
});

describe('a definition as an object', () => {
  it.each([
    [definition(3), 3],
    [definition('3.1'), 0],
    [definition(''), 0],
    [{ ...definition(1), metadata: { name } }, 0],
  ])('has a version that is a whole number, else 0 (%#)', (object, version) => {
    expect(crdVersionOf(object)).toBe(version);
  });

  it('hashes its schemas whatever the order of keys, and nothing else', () => {
    const reordered = JSON.parse(JSON.stringify(definition(1)), (_key, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    ) as KubeObject;
    expect(crdSchemaHash(reordered)).toBe(crdSchemaHash(definition(2)));
    expect(crdSchemaHash(definition(1, 'mode'))).not.toBe(crdSchemaHash(definition(1)));
  });

  it('that is being deleted is terminating, whatever its conditions say', () => {
    expect(crdStateOf(definition(1, 'size', { deletionTimestamp: 'x' }))).toEqual({ kind: 'TERMINATING' });
    expect(crdStateOf(undefined)).toEqual({ kind: 'ABSENT' });
    expect(crdStateOf(definition(1))).toMatchObject({ kind: 'PRESENT', established: false, version: 1 });
  });

  it.each([
    ['is absent', undefined, false, 'CREATED'],
    ['is being deleted', definition(9, 'size', { deletionTimestamp: 'x' }), false, 'WAIT'],
    ['is older', definition(1), false, 'UPDATED'],
    ['is the same', definition(2), false, 'UNCHANGED'],
    ['has our version and another schema', definition(2, 'mode'), false, 'UPDATED'],
    ['has our version and another schema after our write', definition(2, 'mode'), true, 'UNCHANGED'],
    ['is newer', definition(3, 'mode'), false, 'KEPT_NEWER'],
    ['has no version', { ...definition(1), metadata: { name } }, false, 'UPDATED'],
  ])('when the live one %s', (_when, live, isWritten, expected) => {
    expect(decideCrdAction(definition(2), live, isWritten)).toBe(expected);
  });
});

describe('bringing a definition', () => {
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
  const ensure = (signal = AbortSignal.timeout(5_000)) => {
    const options = { client, definition: definition(1), fieldManager: 'm', pollMs: 5, random: () => 0 };
    return ensureCustomResourceDefinition({ ...options, signal });
  };
  const ofDefinitions = ({ path }: { path: string }) => path.includes('customresourcedefinitions');

  it('goes on through outages of the server', async () => {
    server.inject({ when: ofDefinitions, act: { kind: 'status', code: 500 }, times: 2 });
    server.inject({ when: ofDefinitions, act: { kind: 'drop' }, times: 2 });
    expect((await ensure()).action).toBe('CREATED');
  });

  it('gives up on a refusal that time cannot mend, and when it is told to end', async () => {
    server.inject({
      when: ({ method }) => method === 'PATCH',
      act: { kind: 'status', code: 403, reason: 'Forbidden' },
    });
    await expect(ensure()).rejects.toMatchObject({ code: 403 });
    server.inject({ when: () => true, act: { kind: 'status', code: 500 }, times: Infinity });
    const error: unknown = await ensure(AbortSignal.timeout(50)).catch((reason: unknown) => reason);
    expect(error instanceof KubeError && error.isAborted).toBe(true);
  });

  it('without the right to read definitions is seen by discovery', async () => {
    const forbid = () =>
      server.inject({ when: ofDefinitions, act: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 1 });
    const state = async () => {
      forbid();
      return (await readCrdState(client, RESOURCE.redisCluster)).kind;
    };
    expect(await state()).toBe('ABSENT');
    await ensure();
    expect(await state()).toBe('SERVED');
    const metadata = { namespace: 'n', name: 'a', finalizers: ['redis.atoll.dev/children'] };
    await client.create({ apiVersion: RESOURCE.redisCluster.apiVersion, kind: 'RedisCluster', metadata });
    await client.delete(RESOURCE.customResourceDefinition, { name });
    expect(await state()).toBe('TERMINATING');
  });

  it('does not take an unreachable server for an absent definition', async () => {
    server.inject({ when: () => true, act: { kind: 'status', code: 503 } });
    await expect(readCrdState(client, RESOURCE.redisCluster)).rejects.toMatchObject({ isUnreachable: true });
  });
});
