/**
 * Nobody acts in a namespace without being its owner by ConfigMap atoll-scope (04, Scopes). Without this gate a
 * cluster-wide and a namespaced agent would promote two primaries between them.
 */
import type { Rule } from '../rule.ts';

export const gateNamespaceOwner: Rule = {
  name: 'gate-namespace-owner',
  decide: ({ view: { snapshot, key } }) => {
    if (snapshot.ownsNamespace) return undefined;
    const owner = snapshot.scopeOwner ?? 'nobody yet';
    return {
      reason: 'NotOwner',
      message: `Namespace ${key.namespace} is owned by ${owner}; this agent only looks on.`,
      halt: true,
    };
  },
};
