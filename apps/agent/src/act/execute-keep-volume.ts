import { ANNOTATION, LABEL } from '#domain';
import { RESOURCE } from '#kube';
import { assertOurs } from './assert-ours.ts';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

/** Names the last file on the claim of the volume that stays. Everything else goes only after this was seen on it. */
export const executeKeepVolume: Executor<'KeepVolume'> = async ({ key, uid, file }, context) => {
  const { client, resource, assertMayWrite } = context;
  const claim = await client.find(RESOURCE.persistentVolumeClaim, key);
  if (claim === undefined || claim.metadata.uid !== uid) {
    throw new RefusedError('GONE', `Claim ${key.name} is not there any more.`);
  }
  await assertOurs(context, RESOURCE.persistentVolumeClaim, key.name);
  assertMayWrite();
  const metadata = {
    uid,
    labels: { [LABEL.kept]: resource.metadata.uid },
    annotations: { [ANNOTATION.keptFile]: file },
  };
  await client.patchMerge(RESOURCE.persistentVolumeClaim, key, { metadata }, WRITE);
};
