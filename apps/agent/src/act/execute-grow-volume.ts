/**
 * Asks for a bigger volume. The StorageClass is looked at first, where this agent may see it, so that a refusal tells
 * what to do; the server refuses by itself too. Never smaller: what the claim asks for is read again right before. The
 * name carries the hash of the data set and is what its pod mounts, so one that was restored without labels grows too.
 */
import { parseQuantity } from '#domain';
import type { KubeObject } from '#domain';
import { RESOURCE, isKubeError } from '#kube';
import type { ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

export const executeGrowVolume: Executor<'GrowVolume'> = async ({ key, uid, size }, context) => {
  const { client, assertMayWrite } = context;
  const claim = await client.find(RESOURCE.persistentVolumeClaim, key);
  if (claim === undefined || claim.metadata.uid !== uid) return;
  const spec = (claim['spec'] ?? {}) as ClaimSpec;
  if ((parseQuantity(spec.resources?.requests?.storage ?? '') ?? 0) >= (parseQuantity(size) ?? 0)) return;
  await assertExpandable(context, spec.storageClassName);
  assertMayWrite();
  const body = {
    metadata: { uid, resourceVersion: claim.metadata.resourceVersion },
    spec: { resources: { requests: { storage: size } } },
  };
  await client.patchMerge(RESOURCE.persistentVolumeClaim, key, body, WRITE);
};

const assertExpandable = async (context: ExecutionContext, name: string | undefined): Promise<void> => {
  if (name === undefined || name === '') return;
  const found = await findClass(context, name);
  if (found === undefined || found['allowVolumeExpansion'] === true) return;
  throw new RefusedError(
    'NOT_EXPANDABLE',
    `StorageClass ${name} does not allow volumes to grow. Set allowVolumeExpansion: true there, and they grow by ` +
      'themselves; until then they keep their size, and everything else goes on. spec.storage.size can only grow and cannot ' +
      'be set back.',
  );
};

/** undefined where it is gone, or where an agent of one namespace may not look: then the server alone decides. */
const findClass = async ({ client }: ExecutionContext, name: string): Promise<KubeObject | undefined> => {
  try {
    return await client.find(RESOURCE.storageClass, { name });
  } catch (error) {
    if (isKubeError(error) && error.isForbidden()) return undefined;
    throw error;
  }
};
