import type { KubeObject } from './redis-cluster.ts';

/** What an agent owns: the whole member cluster, or one namespace. */
export type Scope = { readonly kind: 'CLUSTER' } | { readonly kind: 'NAMESPACE'; readonly namespace: string };

/** The text of a scope's owner in ConfigMap atoll-scope: `CLUSTER` or `NAMESPACE/<agent's namespace>`. */
export const formatScopeOwner = (scope: Scope): string =>
  scope.kind === 'CLUSTER' ? 'CLUSTER' : `NAMESPACE/${scope.namespace}`;

/** True when an agent of this scope may look at objects of the namespace at all. */
export const scopeCovers = (scope: Scope, namespace: string): boolean =>
  scope.kind === 'CLUSTER' || scope.namespace === namespace;

/** The namespaces that an agent looks at, each by a watch of its own; undefined: all of the member cluster. */
export const watchedNamespaces = (scope: Scope, allowed: readonly string[]): readonly string[] | undefined => {
  if (scope.kind === 'NAMESPACE') return [scope.namespace];
  return allowed.length === 0 ? undefined : [...new Set(allowed)];
};

/** ConfigMap atoll-scope of one namespace: who acts there, and who asks to. */
export interface ScopeRecord {
  readonly owner: string;
  /** Who wants to be the owner: the owner finishes what it is at, and hands over. */
  readonly requestedBy?: string;
  /** Who handed over last: it does not ask again by itself. */
  readonly releasedBy?: string;
  readonly resourceVersion: string;
}

/** The record out of its ConfigMap. An empty text counts as absent. */
export const toScopeRecord = (configMap: KubeObject): ScopeRecord => {
  const data = (configMap['data'] as Readonly<Record<string, string | undefined>> | undefined) ?? {};
  const { owner = '', requestedBy = '', releasedBy = '' } = data;
  return {
    owner,
    ...(requestedBy === '' ? {} : { requestedBy }),
    ...(releasedBy === '' ? {} : { releasedBy }),
    resourceVersion: configMap.metadata.resourceVersion ?? '',
  };
};
