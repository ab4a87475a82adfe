/**
 * A client for the watches of one namespace. When a namespace is deleted, the RoleBinding in it goes too, and every list there is
 * forbidden from then on. Only a namespace that the server says does not exist counts as empty: then nothing in it can be
 * missed. Without this the tenant who deletes a namespace would make the picture of all the others incomplete for ever.
 */
import type { KubeClient } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE } from './kube-resource.ts';

export const emptyWhereGone = (client: KubeClient, namespace: string): KubeClient => ({
  ...client,
  list: async (resource, options) => {
    try {
      return await client.list(resource, options);
    } catch (error) {
      const isForbidden = error instanceof KubeError && error.code === 403;
      if (!isForbidden || (await client.find(RESOURCE.namespace, { name: namespace })) !== undefined) throw error;
      return { items: [], resourceVersion: '' };
    }
  },
});
