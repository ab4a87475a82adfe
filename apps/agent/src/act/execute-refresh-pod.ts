import { ANNOTATION } from '#domain';
import { RESOURCE, isKubeError } from '#kube';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';

/** Any change of a pod makes its kubelet look at its volumes. A pod that was replaced has the newest settings anyway. */
export const executeRefreshPod: Executor<'RefreshPod'> = async ({ pod, podUid, settings }, context) => {
  const { client, namespace, assertMayWrite } = context;
  const body = { metadata: { uid: podUid, annotations: { [ANNOTATION.settings]: settings } } };
  assertMayWrite();
  await client.patchMerge(RESOURCE.pod, { namespace, name: pod }, body, WRITE).catch((error: unknown) => {
    if (!isKubeError(error) || !(error.isNotFound() || error.isConflict())) throw error;
  });
};
