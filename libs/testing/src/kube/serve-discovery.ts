/** Health and discovery of the fake API server: what custom kinds it serves follows from the definitions it holds. */
import type { KubeObject } from '#domain';
import type { KubeStore } from './kube-store.ts';
import { StatusError } from './status-error.ts';

interface Definition extends KubeObject {
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly plural?: string; readonly kind?: string };
    readonly versions?: readonly { readonly name: string }[];
  };
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];

export function serveDiscovery(store: KubeStore, path: string): { readonly code: number; readonly body: unknown } {
  if (['/livez', '/readyz', '/healthz'].includes(path)) return { code: 200, body: 'ok' };
  if (path === '/version') return { code: 200, body: { major: '1', minor: '34', gitVersion: 'v1.34.0-fake' } };
  const groupVersion = path.replace(/^\/apis\//, '');
  const definitions = store
    .list('apiextensions.k8s.io/v1/customresourcedefinitions', undefined)
    .map((object) => object as Definition)
    .filter(({ spec }) => spec?.versions?.some(({ name }) => `${spec.group}/${name}` === groupVersion));
  if (definitions.length === 0)
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
  const resources = definitions.map(({ spec, metadata }) => ({
    name: spec?.names?.plural,
    kind: spec?.names?.kind,
    namespaced: true,
    verbs: metadata.deletionTimestamp === undefined ? [...VERBS, 'create', 'patch', 'update'] : VERBS,
  }));
  return { code: 200, body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources } };
}
