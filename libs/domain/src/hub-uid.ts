/**
 * Which object of the hub a RedisCluster is. The annotation hub-uid says so, and hub-name says under which name the hub
 * wants it: a YAML that somebody copied to another name or namespace carries both, and is nobody's but its maker's.
 * Were it taken for the original, every digest would count one object twice, its events and its end would be told as the
 * original's, and both would claim one data set. Objects that were pushed before there was a hub-name are taken at
 * their word.
 */
import { formatObjectKey } from './ids.ts';
import { ANNOTATION } from './names.ts';
import type { ObjectMeta } from './redis-cluster.ts';

/**
 * A hubUid is a UUID. What is far longer was written by somebody else, and no frame of the link could carry it; with a line
 * break in it, it would be several in the memory of the agent, which keeps one a line.
 */
const HUB_UID = /^\S{1,128}$/;

/** Undefined for what no hub pushed, and for a copy. */
export function hubUidOf(metadata: ObjectMeta): string | undefined {
  const hubUid = metadata.annotations?.[ANNOTATION.hubUid];
  return hubUid === undefined || !HUB_UID.test(hubUid) || originalOf(metadata) !== undefined ? undefined : hubUid;
}

/** `namespace/name` of the object that this one's annotations were copied from; undefined when it is no copy. */
export function originalOf({ namespace = '', name, annotations = {} }: ObjectMeta): string | undefined {
  const { [ANNOTATION.hubUid]: hubUid, [ANNOTATION.hubName]: hubName } = annotations;
  const isCopy = hubUid !== undefined && hubName !== undefined && hubName !== formatObjectKey({ namespace, name });
  return isCopy ? hubName : undefined;
}
