/** What the annotations of an object say about the hub that pushed it. */
import { ANNOTATION, hubUidOf, MAX_GENERATION } from '#domain';
import type { KubeObject, RedisClusterStatus } from '#domain';
import type { ObjectVersion } from '#protocol';

/** Of a SHA-256 in hex. */
const HASH_CHARACTERS = 64;

/**
 * The version that was written last; undefined for what no hub pushed, and for a copy. A generation or hash that is lost, or
 * that no hub can have written, counts as 0 and as none: the next upsert puts it right.
 */
export function readHubVersion(object: KubeObject): ObjectVersion | undefined {
  const annotations = object.metadata.annotations ?? {};
  const hubUid = hubUidOf(object.metadata);
  if (hubUid === undefined) return undefined;
  const generation = Number(annotations[ANNOTATION.hubGeneration]);
  const specHash = annotations[ANNOTATION.specHash] ?? '';
  return {
    hubUid,
    hubGeneration: Number.isSafeInteger(generation) && generation > 0 && generation <= MAX_GENERATION ? generation : 0,
    specHash: specHash.length > HASH_CHARACTERS ? '' : specHash,
  };
}

/** The id of what the object holds: as fixed at its first reconcile, else as it will be fixed (04, Data set id). */
export function readDataSetId(object: KubeObject): string | undefined {
  const status = object['status'] as RedisClusterStatus | undefined;
  const annotations = object.metadata.annotations ?? {};
  return status?.dataSetId ?? annotations[ANNOTATION.dataSetId] ?? hubUidOf(object.metadata) ?? object.metadata.uid;
}
