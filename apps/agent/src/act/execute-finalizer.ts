/**
 * Adds or removes our finalizer. The list is read from the server and written back under its resourceVersion, so that
 * nobody else's finalizer is lost; the uid makes sure that a namesake made in between keeps its own.
 */
import { FINALIZER } from '#domain';
import type { KubeObject } from '#domain';
import { RESOURCE } from '#kube';
import type { ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

const readLive = async ({ client, resource, namespace }: ExecutionContext): Promise<KubeObject | undefined> => {
  const live = await client.find(RESOURCE.redisCluster, { namespace, name: resource.metadata.name });
  return live?.metadata.uid === resource.metadata.uid ? live : undefined;
};

const writeFinalizers = async (
  { client, namespace, assertMayWrite }: ExecutionContext,
  live: KubeObject,
  finalizers: readonly string[],
): Promise<void> => {
  const { name, resourceVersion, uid } = live.metadata;
  assertMayWrite();
  await client.patchMerge(
    RESOURCE.redisCluster,
    { namespace, name },
    { metadata: { uid, resourceVersion, finalizers } },
    WRITE,
  );
};

export const executeAddFinalizer: Executor<'AddFinalizer'> = async (_, context) => {
  const live = await readLive(context);
  if (live === undefined) throw new RefusedError('GONE', 'The RedisCluster is gone.');
  if (live.metadata.deletionTimestamp !== undefined) throw new RefusedError('TERMINATING', 'It is being deleted.');
  const finalizers = live.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) await writeFinalizers(context, live, [...finalizers, FINALIZER]);
};

export const executeRemoveFinalizer: Executor<'RemoveFinalizer'> = async (_, context) => {
  const live = await readLive(context);
  const finalizers = live?.metadata.finalizers ?? [];
  if (live === undefined || !finalizers.includes(FINALIZER)) return;
  await writeFinalizers(
    context,
    live,
    finalizers.filter((finalizer) => finalizer !== FINALIZER),
  );
};
