/**
 * What Kubernetes does about CustomResourceDefinitions by itself: a new one is established; one that is being deleted
 * stays until all its objects are gone, and deletes them, which those with a finalizer survive.
 */
import type { KubeObject } from '#domain';
import type { KubeStore, StoreKey, WriteBy } from './kube-store.ts';

const COLLECTION = 'apiextensions.k8s.io/v1/customresourcedefinitions';
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';
const SERVER: WriteBy = { manager: 'kube-apiserver', operation: 'Update', subresource: '', dryRun: false };

interface DefinitionFields {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
  readonly status?: unknown;
}

const keyOf = (name: string): StoreKey => ({ collection: COLLECTION, namespace: undefined, name });
const fieldsOf = (definition: KubeObject): DefinitionFields => definition as unknown as DefinitionFields;

export function playDefinitions(store: KubeStore): void {
  // In a later turn: the write that is being told must be complete first.
  store.subscribe(({ collection }) => {
    if (collection === COLLECTION || collection.includes('.')) setImmediate(() => settle(store));
  });
}

function settle(store: KubeStore): void {
  for (const definition of store.list(COLLECTION, undefined)) {
    if (definition.metadata.deletionTimestamp !== undefined) finish(store, definition);
    else if (fieldsOf(definition).status === undefined) establish(store, definition);
  }
}

function establish(store: KubeStore, { metadata }: KubeObject): void {
  const conditions = [{ type: 'Established', status: 'True' }];
  const finalizers = [...(metadata.finalizers ?? []), CLEANUP];
  store.update(keyOf(metadata.name), (live) => ({ ...live, metadata: { ...live.metadata, finalizers } }), SERVER);
  const status = { ...SERVER, subresource: 'status' };
  store.update(keyOf(metadata.name), (live) => ({ ...live, status: { conditions } }), status);
}

function finish(store: KubeStore, definition: KubeObject): void {
  const { group, names } = fieldsOf(definition).spec;
  const versions = (definition['spec'] as { versions: readonly { name: string }[] }).versions;
  const left = versions.flatMap(({ name }) => {
    const collection = `${group}/${name}/${names.plural}`;
    return store.list(collection, undefined).map(({ metadata }) => ({ collection, metadata }));
  });
  for (const { collection, metadata } of left) {
    if (metadata.deletionTimestamp !== undefined) continue;
    store.delete({ collection, namespace: metadata.namespace, name: metadata.name });
  }
  if (left.length > 0) return;
  const finalizers = (definition.metadata.finalizers ?? []).filter((name) => name !== CLEANUP);
  store.update(
    keyOf(definition.metadata.name),
    (live) => ({ ...live, metadata: { ...live.metadata, finalizers } }),
    SERVER,
  );
}
