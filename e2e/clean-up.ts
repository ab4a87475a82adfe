import type { Fleet, MemberCluster } from './fleet.ts';
import { mutateRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { kubectl } from './member.ts';

interface Listed {
  readonly redisClusters: {
    readonly edges: readonly { readonly node: { readonly id: string; readonly namespace: string } }[];
  };
}

/**
 * Ends what a file made in its namespace, so that its pods do not burden the files after it: the hub forgets its objects
 * (an approval for many deletes is not part of this), then they are deleted where they are.
 */
export async function cleanUp(fleet: Fleet, member: MemberCluster, namespace: string): Promise<void> {
  const { redisClusters } = await fleet.hub.api.request<Listed>(
    '{ redisClusters(first: 100) { edges { node { id namespace } } } }',
  );
  for (const { node } of redisClusters.edges) {
    if (node.namespace !== namespace) continue;
    await mutateRedisCluster(fleet.hub.api, 'forget', { id: node.id, expectedGeneration: null });
  }
  await kubectl(member.cluster, ['delete', 'arc', '--all', '-n', namespace, '--wait=false']);
}
