/**
 * When a node's kubelet last renewed its Lease, in ms since the epoch by that node's clock; whoever compares it with
 * another clock leaves a margin. undefined where there is none, or where the agent may not read it: then nothing is
 * proven by it.
 */
import { RESOURCE } from '#kube';
import type { KubeClient } from '#kube';

const NODE_LEASES = 'kube-node-lease';

export const readHeardAtMs = async (client: KubeClient, node: string): Promise<number | undefined> => {
  try {
    const lease = await client.find(RESOURCE.lease, { namespace: NODE_LEASES, name: node });
    const spec = lease?.['spec'] as { readonly renewTime?: string } | undefined;
    const heardAtMs = Date.parse(spec?.renewTime ?? '');
    return Number.isNaN(heardAtMs) ? undefined : heardAtMs;
  } catch {
    return undefined;
  }
};
