import { isKubeError } from '#kube';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

/** Eviction API, so that disruption budgets count it; a pod that is gone or replaced already is done. */
export const executeEvictPod: Executor<'EvictPod'> = async ({ pod, podUid }, { client, namespace, assertMayWrite }) => {
  assertMayWrite();
  try {
    await client.evict({ namespace, name: pod }, { uid: podUid, timeoutMs: WRITE.timeoutMs });
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (error.isTooManyRequests()) {
      throw new RefusedError('BUDGET', `A disruption budget forbids the eviction of pod ${pod} now.`);
    }
    if (!error.isNotFound() && !error.isConflict()) throw error;
  }
};
