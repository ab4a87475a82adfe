/**
 * Claims a namespace for this agent's scope: ConfigMap atoll-scope, created only when absent. Creation is what the API
 * server makes atomic, so of two agents exactly one becomes the owner; an existing owner is never written over, since
 * handing over is a request, not a race (04, Scopes).
 */
import { LABEL, SCOPE_CONFIG_MAP, formatScopeOwner } from '#domain';
import type { Scope } from '#domain';
import { isKubeError } from '#kube';
import type { KubeClient } from '#kube';
import { WRITE } from './execution-context.ts';

/** TERMINATING: the namespace is being deleted, and nothing can be made in it, so nobody will own it again. */
export type NamespaceClaim = 'OWNED' | 'TERMINATING';

/** OWNED: the namespace has an owner, whoever it is. */
export const claimNamespace = async (client: KubeClient, namespace: string, scope: Scope): Promise<NamespaceClaim> => {
  try {
    await client.create(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: SCOPE_CONFIG_MAP,
          namespace,
          labels: { [LABEL.managedBy]: 'atoll', [LABEL.partOf]: 'atoll' },
        },
        data: { owner: formatScopeOwner(scope) },
      },
      WRITE,
    );
  } catch (error) {
    if (isKubeError(error) && error.isNamespaceTerminating()) return 'TERMINATING';
    if (!isKubeError(error) || !error.isAlreadyExists()) throw error;
  }
  return 'OWNED';
};
