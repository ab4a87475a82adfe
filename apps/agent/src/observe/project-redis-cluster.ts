/**
 * What the cache keeps of a RedisCluster, and which changes of one deserve a pass. Our own status writes come back
 * through the watch: a pass for each of them would never end, so only what a person or the hub can change counts.
 */
import { isDeepStrictEqual } from 'node:util';
import { ownValue } from '#domain';
import type { KubeObject, ManagedFieldsEntry, RedisClusterObject } from '#domain';
import { keepOwn } from './project-pod.ts';

/**
 * Drops nothing that is read later. Annotations of others go: kubectl's copy of the whole object, and up to 256 KiB that a
 * tenant may write. Managed fields stay for the owners of spec fields alone, and are else as large as what they own.
 */
export const projectRedisCluster = (object: KubeObject): RedisClusterObject => {
  const { annotations, managedFields, ...metadata } = object.metadata;
  const kept = annotations === undefined ? undefined : keepOwn(annotations);
  const specOwners = managedFields?.filter((entry) => entry.subresource === undefined).map(ofSpec);
  return {
    ...(object as RedisClusterObject),
    metadata: {
      ...metadata,
      ...(kept === undefined ? {} : { annotations: kept }),
      ...(specOwners === undefined ? {} : { managedFields: specOwners }),
    },
  };
};

const ofSpec = (entry: ManagedFieldsEntry): ManagedFieldsEntry => {
  const { fieldsV1 } = entry;
  if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return entry;
  const owned = ownValue(fieldsV1 as Readonly<Record<string, unknown>>, 'f:spec');
  return { ...entry, fieldsV1: owned === undefined ? {} : { 'f:spec': owned } };
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
