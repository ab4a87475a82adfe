/**
 * The verbs of the Kubernetes client on objects in memory, without a server: for tests that run thousands of steps, or
 * many member clusters in one process. Answers and refusals are those of the fake API server.
 */
import type { KubeObject } from '#domain';
import { KubeError, resourceOf } from '#kube';
import type { KubeClient, KubeResource, ResourceName } from '#kube';
import type { KubeStore, StoreKey, WriteBy } from './kube-store.ts';
import { mergePatch } from './patch-object.ts';
import { StatusError } from './status-error.ts';

export type MemoryKube = Pick<KubeClient, 'get' | 'find' | 'create' | 'replace' | 'apply' | 'patchMerge' | 'delete'>;

/** Runs a request (about the object of this name); may refuse it, let it hang, or end the process before or after it. */
type Around = <T>(verb: keyof MemoryKube, request: () => T, name: string) => Promise<T>;

const atOnce: Around = (_verb, request) => Promise.resolve().then(request);

export function createMemoryKube(store: KubeStore, around: Around = atOnce): MemoryKube {
  const run = <T>(verb: keyof MemoryKube, { name }: { readonly name: string }, request: () => T): Promise<T> =>
    around(
      verb,
      () => {
        try {
          return request();
        } catch (error) {
          throw error instanceof StatusError ? toKubeError(error) : error;
        }
      },
      name,
    );
  return {
    get: (resource, at) => run('get', at, () => store.read(keyAt(resource, at)) as never),
    find: (resource, at) => run('find', at, () => findObject(store, keyAt(resource, at)) as never),
    create: (object, options) =>
      run('create', object.metadata, () => store.create(keyOf(object), object, writer(options?.fieldManager)) as never),
    replace: (object, options) =>
      run(
        'replace',
        object.metadata,
        () => store.update(keyOf(object), () => object, writer(options?.fieldManager)) as never,
      ),
    apply: (object, { fieldManager, force = false }) =>
      run('apply', object.metadata, () => {
        const by = { ...writer(fieldManager), operation: 'Apply' as const, force };
        return store.apply(keyOf(object), object, by) as never;
      }),
    patchMerge: (resource, at, patch, options) =>
      run('patchMerge', at, () => {
        const change = (live: KubeObject): KubeObject => mergePatch(live, patch) as KubeObject;
        return store.update(keyAt(resource, at), change, writer(options?.fieldManager)) as never;
      }),
    delete: (resource, at, options = {}) =>
      run('delete', at, () => {
        const { uid, resourceVersion } = options;
        store.delete(keyAt(resource, at), {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        });
      }),
  };
}

function findObject(store: KubeStore, key: StoreKey): KubeObject | undefined {
  try {
    return store.read(key);
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}

const keyAt = (resource: KubeResource, { namespace, name }: ResourceName): StoreKey => ({
  collection: `${resource.apiVersion}/${resource.plural}`,
  namespace: resource.namespaced ? namespace : undefined,
  name,
});

const keyOf = (object: KubeObject): StoreKey => keyAt(resourceOf(object), object.metadata);

const writer = (manager = 'unknown'): WriteBy => ({ manager, operation: 'Update', subresource: '', dryRun: false });

function toKubeError(error: StatusError): KubeError {
  const { message, reason, code } = error;
  return new KubeError({ message, reason, code, status: error.toStatus() });
}
