/** What an agent owns: the whole member cluster, or one namespace. */
export type Scope = { readonly kind: 'CLUSTER' } | { readonly kind: 'NAMESPACE'; readonly namespace: string };

/** The text of a scope's owner in ConfigMap atoll-scope: `CLUSTER` or `NAMESPACE/<agent's namespace>`. */
export const formatScopeOwner = (scope: Scope): string =>
  scope.kind === 'CLUSTER' ? 'CLUSTER' : `NAMESPACE/${scope.namespace}`;

/** True when an agent of this scope may look at objects of the namespace at all. */
export const scopeCovers = (scope: Scope, namespace: string): boolean =>
  scope.kind === 'CLUSTER' || scope.namespace === namespace;
