/** The part of the Kubernetes contract about CustomResourceDefinitions. Each case brings a kind of its own. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '#domain';
import {
  CRD_VERSION_ANNOTATION,
  crdSchemaHash,
  type CrdState,
  ensureCustomResourceDefinition,
  type KubeClient,
  type KubeResource,
  readCrdState,
  RESOURCE,
} from '#kube';
import { failureOf, type KubeContractCase, until } from './kube-contract-case.ts';

interface Kind {
  readonly resource: KubeResource;
  readonly definition: (version: number, fields: readonly string[]) => KubeObject;
}

/** A kind that nobody else has, in a group of its own. */
function inventKind(): Kind {
  const group = `c${randomUUID().slice(0, 8)}.contract.atoll.dev`;
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const definition = (version: number, fields: readonly string[]): KubeObject => {
    const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}`, annotations: { [CRD_VERSION_ANNOTATION]: String(version) } },
      spec: { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] },
    };
  };
  return { resource: { apiVersion: `${group}/v1`, kind: 'Thing', plural: 'things', namespaced: true }, definition };
}

async function withKind(client: KubeClient, run: (kind: Kind) => Promise<void>): Promise<void> {
  const kind = inventKind();
  const { name } = kind.definition(1, []).metadata;
  try {
    await run(kind);
  } finally {
    await client.delete(RESOURCE.customResourceDefinition, { name }).catch(() => undefined);
  }
}

const ensure = (client: KubeClient, definition: KubeObject, onState?: (state: CrdState) => void) =>
  ensureCustomResourceDefinition({
    client,
    definition,
    fieldManager: 'contract',
    signal: AbortSignal.timeout(30_000),
    pollMs: 50,
    ...(onState && { onState }),
  });

export const DEFINITION_CONTRACT: readonly KubeContractCase[] = [
  {
    name: 'a definition is created, left alone, updated by a newer one, never by an older one',
    run: ({ client }) =>
      withKind(client, async ({ resource, definition }) => {
        assert.deepEqual(await readCrdState(client, resource), { kind: 'ABSENT' });
        const first = definition(2, ['size']);
        const created = await ensure(client, first);
        assert.deepEqual(created, { action: 'CREATED', version: 2, schemaHash: crdSchemaHash(first) });
        assert.equal((await ensure(client, first)).action, 'UNCHANGED');
        const newer = definition(3, ['size', 'mode']);
        const updated = await ensure(client, newer);
        assert.deepEqual(updated, { action: 'UPDATED', version: 3, schemaHash: crdSchemaHash(newer) });
        const kept = await ensure(client, first);
        assert.deepEqual(kept, { action: 'KEPT_NEWER', version: 3, schemaHash: crdSchemaHash(newer) });
        assert.equal((await readCrdState(client, resource)).kind, 'PRESENT');
      }),
  },
  {
    name: 'a definition that is being deleted is waited for until its objects are let go, then made anew',
    run: ({ client, namespace }) =>
      withKind(client, async ({ resource, definition }) => {
        const ours = definition(1, ['size']);
        await ensure(client, ours);
        const metadata = { name: 'held', namespace, finalizers: ['redis.atoll.dev/contract'] };
        const collection = `/apis/${resource.apiVersion}/namespaces/${namespace}/things`;
        const thing = { apiVersion: resource.apiVersion, kind: 'Thing', metadata, spec: { size: '1' } };
        await client.raw({ method: 'POST', path: collection, body: thing });
        await client.delete(RESOURCE.customResourceDefinition, { name: ours.metadata.name });
        assert.deepEqual(await readCrdState(client, resource), { kind: 'TERMINATING' });
        const states: string[] = [];
        const remade = ensure(client, ours, ({ kind }) => states.push(kind));
        await until('it is told as terminating', () => states.includes('TERMINATING'));
        await client.patchMerge(resource, { namespace, name: 'held' }, { metadata: { finalizers: null } });
        assert.equal((await remade).action, 'CREATED');
        assert.ok((await failureOf(client.get(resource, { namespace, name: 'held' }))).isNotFound());
      }),
  },
  {
    name: 'a watch from a version older than the memory of the server is Gone',
    run: ({ client, namespace }) =>
      withKind(client, async ({ resource, definition }) => {
        // The server remembers a kind's history from its definition on; version 1 is always older than that.
        await ensure(client, definition(1, []));
        const options = { namespace, resourceVersion: '1', timeoutSeconds: 1, onEvent: () => undefined };
        const watch = () => failureOf(client.watch(resource, { ...options, signal: AbortSignal.timeout(10_000) }));
        let error = await watch();
        // A new kind's storage says for a moment that it is being initialised.
        while (error.isTooManyRequests()) error = await watch();
        assert.ok(error.isGone(), `${error.code} ${error.reason} ${error.message}`);
      }),
  },
];
