/**
 * Deletes one child. Invariant: only the very object that was planned for (uid) and only one that carries the label of
 * this data set, both read again from the server. Without it a namesake made by somebody else could be deleted.
 */
import { LABEL } from '#domain';
import { isKubeError, resourceOf } from '#kube';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

export const executeDeleteChild: Executor<'DeleteChild'> = async (action, context) => {
  const { client, owner, assertMayWrite } = context;
  const resource = resourceOf({ apiVersion: action.apiVersion, kind: action.objectKind });
  const live = await client.find(resource, action.key);
  if (live === undefined || live.metadata.uid !== action.uid) return;
  if (live.metadata.labels?.[LABEL.dataSet] !== owner.dataSetHash) {
    throw new RefusedError('NOT_OURS', `${action.objectKind} ${action.key.name} is not labelled as of this data set.`);
  }
  assertMayWrite();
  await client
    .delete(resource, action.key, { uid: action.uid, propagationPolicy: 'Background', timeoutMs: WRITE.timeoutMs })
    .catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  if (action.objectKind === 'Secret') context.forgetSecret(action.key.name);
};

const isGone = (error: unknown): boolean => isKubeError(error) && error.isNotFound();
