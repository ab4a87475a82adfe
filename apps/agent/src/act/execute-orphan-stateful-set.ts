import { RESOURCE, isKubeError } from '#kube';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';

/** Deletes the StatefulSet and nothing that belongs to it: pods and volumes run on, the next one of the name adopts them. */
export const executeOrphanStatefulSet: Executor<'OrphanStatefulSet'> = async ({ key, uid }, context) => {
  context.assertMayWrite();
  const options = { uid, propagationPolicy: 'Orphan', timeoutMs: WRITE.timeoutMs } as const;
  await context.client.delete(RESOURCE.statefulSet, key, options).catch((error: unknown) => {
    if (!isKubeError(error) || !(error.isNotFound() || error.isConflict())) throw error;
  });
};
