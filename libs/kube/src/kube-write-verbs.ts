/** The writing half of KubeClient: create, replace, server-side apply, patches, delete, evict. */
import type { KubeObject } from '#domain';
import { early, type Send } from './kube-verb.ts';
import type { ApplyOptions, DeleteOptions, KubeClient, WriteOptions } from './kube-client.ts';
import { collectionPath, objectPath, RESOURCE, type ResourceName, resourceOf } from './kube-resource.ts';

// JSON is YAML, so an apply patch travels as JSON under the YAML type that every supported server knows.
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

const writeQuery = (options: WriteOptions) => ({
  fieldManager: options.fieldManager,
  dryRun: options.dryRun === true ? 'All' : undefined,
});

/** Where the object itself says it lives. */
const placeOf = (object: KubeObject): ResourceName => ({
  name: object.metadata.name,
  ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
});

type WriteVerbs = Pick<KubeClient, 'create' | 'replace' | 'apply' | 'applyStatus' | 'patchMerge' | 'patchJson'>;

export function writeVerbs(send: Send): WriteVerbs {
  const patch = <T>(path: string, body: unknown, contentType: string, options: WriteOptions | ApplyOptions) =>
    send<T>({
      method: 'PATCH',
      path,
      body,
      contentType,
      query: { ...writeQuery(options), force: 'force' in options && options.force === true ? 'true' : undefined },
      ...early(options),
    });
  return {
    async create<T>(object: KubeObject, options: WriteOptions = {}) {
      const resource = resourceOf(object);
      const { namespace } = object.metadata;
      if (resource.namespaced && !namespace)
        throw new Error(`${object.kind} ${object.metadata.name} needs a namespace`);
      const path = collectionPath(resource, namespace);
      return send<T>({ method: 'POST', path, body: object, query: writeQuery(options), ...early(options) });
    },
    async replace<T>(object: KubeObject, options: WriteOptions = {}) {
      const path = objectPath(resourceOf(object), placeOf(object));
      return send<T>({ method: 'PUT', path, body: object, query: writeQuery(options), ...early(options) });
    },
    async apply<T>(object: KubeObject, options: ApplyOptions) {
      return patch<T>(objectPath(resourceOf(object), placeOf(object)), object, APPLY, options);
    },
    async applyStatus<T>(object: KubeObject, options: ApplyOptions) {
      return patch<T>(objectPath(resourceOf(object), placeOf(object), 'status'), object, APPLY, options);
    },
    async patchMerge(resource, at, body, options = {}) {
      return patch(objectPath(resource, at, options.subresource), body, MERGE, options);
    },
    async patchJson(resource, at, operations, options = {}) {
      return patch(objectPath(resource, at, options.subresource), operations, JSON_PATCH, options);
    },
  };
}

function deleteBody(options: DeleteOptions) {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  };
}

export function removeVerbs(send: Send): Pick<KubeClient, 'delete' | 'evict'> {
  return {
    async delete(resource, at, options = {}) {
      await send({ method: 'DELETE', path: objectPath(resource, at), body: deleteBody(options), ...early(options) });
    },
    async evict({ namespace, name }, options = {}) {
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: deleteBody(options),
      };
      const path = objectPath(RESOURCE.pod, { namespace, name }, 'eviction');
      await send({ method: 'POST', path, body, ...early(options) });
    },
  };
}
