/**
 * Whether an object that bears the name of a child may be written over. Some children are called as the RedisCluster is,
 * so a namesake may be somebody's Service that was there before. Invariant: only what carries our labels, or was applied
 * by an agent before (a label taken off by hand is put back), is written; all else is refused with words. Without it a
 * RedisCluster turns a stranger's Service towards Redis, and its deletion takes the Service along (seen).
 */
import type { KubeResource } from '#kube';
import { isOurs } from '#manifests';
import { RefusedError } from './execution-context.ts';
import type { ExecutionContext } from './execution-context.ts';

/** Throws RefusedError when the live object of that name is not of this RedisCluster. */
export const assertOurs = async (
  { client, namespace, owner }: ExecutionContext,
  resource: KubeResource,
  name: string,
): Promise<void> => {
  const live = await client.find(resource, { namespace, name });
  if (live === undefined || isOurs(live, owner.name)) return;
  throw new RefusedError(
    'NOT_OURS',
    `${resource.kind} ${name} exists and was not made for this RedisCluster. It is never written over: ` +
      'remove or rename it, or give the RedisCluster another name.',
  );
};
