/**
 * Deletes one pod, by uid: one that serves nobody, or (`force`) one whose node a person declared dead. What serves goes by
 * eviction. Invariant: only a pod with the label of this data set, read again from the server; without it the right to
 * delete pods could reach a namesake.
 */
import { LABEL } from '#domain';
import { RESOURCE, isKubeError } from '#kube';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

export const executeDeletePod: Executor<'DeletePod'> = async ({ pod, podUid, force }, context) => {
  const { client, namespace, owner, assertMayWrite } = context;
  const live = await client.find(RESOURCE.pod, { namespace, name: pod });
  if (live === undefined || live.metadata.uid !== podUid) return;
  if (live.metadata.labels?.[LABEL.dataSet] !== owner.dataSetHash) {
    throw new RefusedError('NOT_OURS', `Pod ${pod} is not labelled as of this data set.`);
  }
  if (live.metadata.deletionTimestamp !== undefined && !force) return;
  assertMayWrite();
  const grace = force ? { gracePeriodSeconds: 0 } : {};
  await client
    .delete(RESOURCE.pod, { namespace, name: pod }, { uid: podUid, timeoutMs: WRITE.timeoutMs, ...grace })
    .catch((error: unknown) => {
      if (!isKubeError(error) || !(error.isNotFound() || error.isConflict())) throw error;
    });
};
