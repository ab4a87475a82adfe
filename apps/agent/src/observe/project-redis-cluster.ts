/**
 * What the cache keeps of a RedisCluster, and which changes of one deserve a pass. Our own status writes come back
 * through the watch: a pass for each of them would never end, so only what a person or the hub can change counts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectMeta, RedisClusterObject } from '#domain';

/** kubectl's copy of the whole object; nobody here reads it. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const withoutLastApplied = (annotations: ObjectMeta['annotations']): ObjectMeta['annotations'] => {
  if (annotations?.[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _, ...rest } = annotations;
  return rest;
};

/** Drops nothing that is read later; managed fields stay for the owners of spec fields, those of status go. */
export const projectRedisCluster = (object: KubeObject): RedisClusterObject => {
  const { annotations, managedFields, ...metadata } = object.metadata;
  const kept = withoutLastApplied(annotations);
  const specOwners = managedFields?.filter((entry) => entry.subresource === undefined);
  return {
    ...(object as RedisClusterObject),
    metadata: {
      ...metadata,
      ...(kept === undefined ? {} : { annotations: kept }),
      ...(specOwners === undefined ? {} : { managedFields: specOwners }),
    },
  };
};

const decisive = ({ metadata }: RedisClusterObject): unknown => ({
  uid: metadata.uid,
  generation: metadata.generation,
  deletionTimestamp: metadata.deletionTimestamp,
  finalizers: metadata.finalizers,
  annotations: metadata.annotations,
});

/** False for a change of status alone. */
export const deservesPass = (next: RedisClusterObject, previous: RedisClusterObject | undefined): boolean =>
  previous === undefined || !isDeepStrictEqual(decisive(next), decisive(previous));
