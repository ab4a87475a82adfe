/** One request to the fake API server, without the HTTP: what to do to the store, and what to answer. */
import type { KubeObject } from '#domain';
import type { SeenRequest } from './kube-faults.ts';
import { type KubePath, parseKubePath } from './kube-path.ts';
import { type KubeStore, type StoreKey, type WriteBy } from './kube-store.ts';
import { isPlain, type Plain } from './field-ownership.ts';
import { jsonPatch, mergePatch } from './patch-object.ts';
import { matchesSelectors } from './select-objects.ts';
import { serveDiscovery } from './serve-discovery.ts';
import { StatusError } from './status-error.ts';

export interface Served {
  readonly code: number;
  readonly body: unknown;
}

export function serveKubeRequest(store: KubeStore, request: SeenRequest): Served {
  const path = parseKubePath(request.path);
  if (path === undefined) return serveDiscovery(store, request.path);
  const name = path.name ?? (request.method === 'POST' ? (parseBody(request) as KubeObject).metadata.name : undefined);
  if (name === undefined) {
    if (request.method === 'GET') return { code: 200, body: listObjects(store, path, request) };
    throw new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
  const key: StoreKey = { collection: `${path.apiVersion}/${path.plural}`, namespace: path.namespace, name };
  return serveObject(store, path, key, request);
}

function serveObject(store: KubeStore, path: KubePath, key: StoreKey, request: SeenRequest): Served {
  switch (request.method) {
    case 'GET':
      return { code: 200, body: store.read(key) };
    case 'POST':
      if (path.subresource === 'eviction') return evict(store, key, request);
      return { code: 201, body: store.create(key, parseBody(request) as KubeObject, writerOf(path, request)) };
    case 'PUT':
      return { code: 200, body: store.update(key, () => parseBody(request) as KubeObject, writerOf(path, request)) };
    case 'PATCH':
      return { code: 200, body: patchObject(store, path, key, request) };
    case 'DELETE':
      return { code: 200, body: store.delete(key, preconditionsOf(parseBody(request))) };
    default:
      throw new StatusError(405, 'MethodNotAllowed', 'method not allowed');
  }
}

function parseBody(request: SeenRequest): unknown {
  if (request.body === '') return {};
  try {
    return JSON.parse(request.body);
  } catch {
    throw new StatusError(400, 'BadRequest', 'the body is no JSON');
  }
}

const writerOf = (path: KubePath, request: SeenRequest, operation: WriteBy['operation'] = 'Update'): WriteBy => ({
  manager: request.query.get('fieldManager') ?? String(request.headers['user-agent']).split('/')[0] ?? '',
  operation,
  subresource: path.subresource ?? '',
  dryRun: request.query.get('dryRun') === 'All',
});

function patchObject(store: KubeStore, path: KubePath, key: StoreKey, request: SeenRequest): KubeObject {
  const body = parseBody(request);
  switch (request.headers['content-type']) {
    case 'application/apply-patch+yaml': {
      if (!request.query.has('fieldManager')) throw new StatusError(400, 'BadRequest', 'fieldManager is required');
      const by = { ...writerOf(path, request, 'Apply'), force: request.query.get('force') === 'true' };
      return store.apply(key, body as KubeObject, by);
    }
    case 'application/merge-patch+json':
      return store.update(key, (live) => mergePatch(live, body) as KubeObject, writerOf(path, request));
    case 'application/json-patch+json': {
      const patch = (live: KubeObject) => jsonPatch(live, body as Parameters<typeof jsonPatch>[1]) as KubeObject;
      return store.update(key, patch, writerOf(path, request));
    }
    default:
      throw new StatusError(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  }
}

function preconditionsOf(body: unknown): { uid?: string; resourceVersion?: string } {
  const preconditions = isPlain(body) ? body['preconditions'] : undefined;
  return isPlain(preconditions) ? preconditions : {};
}

function evict(store: KubeStore, key: StoreKey, request: SeenRequest): Served {
  const options = (parseBody(request) as Plain)['deleteOptions'];
  store.delete(key, preconditionsOf(options));
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 } };
}

function listObjects(store: KubeStore, path: KubePath, request: SeenRequest): unknown {
  const { query } = request;
  const selectors = {
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
  };
  const token = query.get('continue');
  const after = token === null ? undefined : (JSON.parse(token) as { index: number; version: number });
  const all = store
    .list(`${path.apiVersion}/${path.plural}`, path.namespace)
    .filter((object) => matchesSelectors(object, selectors));
  const start = after?.index ?? 0;
  const version = after?.version ?? store.version;
  const end = start + Number(query.get('limit') ?? all.length);
  // As in Kubernetes, the items of a list come without their apiVersion and kind.
  const items = all.slice(start, end).map(({ apiVersion: _apiVersion, kind: _kind, ...rest }) => rest);
  const metadata = {
    resourceVersion: String(version),
    ...(end < all.length && { continue: JSON.stringify({ index: end, version }) }),
  };
  return { apiVersion: path.apiVersion, kind: 'List', metadata, items };
}
