/**
 * Writes the record of the data set, before the action that makes it true. The primary term never goes back: a late
 * writer with an older picture is refused, or it would make an old primary the recorded one again.
 */
import { RESOURCE } from '#kube';
import { decodeRecord, renderRecord } from '#manifests';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

export const executeWriteRecord: Executor<'WriteRecord'> = async ({ key, record }, context) => {
  const { client, owner, assertMayWrite } = context;
  const live = await client.find(RESOURCE.configMap, key);
  const known = live === undefined ? undefined : decodeRecord(live);
  if (known !== undefined && known.dataSetId !== record.dataSetId) {
    throw new RefusedError('OTHER_DATA_SET', `ConfigMap ${key.name} records another data set.`);
  }
  if (known !== undefined && known.primaryTerm > record.primaryTerm) {
    throw new RefusedError('OLDER_TERM', `The recorded primary term is ${known.primaryTerm} already.`);
  }
  assertMayWrite();
  await client.apply(renderRecord(owner, key.name, record), { ...WRITE, force: true });
};
