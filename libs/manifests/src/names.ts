/**
 * The names of everything that belongs to one data set, from the RedisCluster's name and the data set id. Invariant:
 * what holds data or identity carries the hash of the data set id, so that a new RedisCluster of the same name never
 * finds the volumes or the Sentinel master of the old one, and a lost object that is applied again with its id finds
 * its running pods. Changing one of these names orphans what an older release made.
 */
import { createHash } from 'node:crypto';
import type { DataSetId } from '#domain';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const HASH_LENGTH = 10;
/** A StatefulSet's name has at most 52 characters; of those the Sentinels' needs 11 for the hash and 9 for its suffix. */
const SENTINEL_PREFIX_LENGTH = 32;

/** The first 10 characters (50 bits) of the lower-case base32 (RFC 4648) of the SHA-256 of the data set id. */
export const formatDataSetHash = (dataSetId: DataSetId): string => {
  const bytes = createHash('sha256').update(dataSetId).digest();
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5 && text.length < HASH_LENGTH) {
      bits -= 5;
      text += BASE32.charAt((buffer >> bits) & 31);
    }
    if (text.length === HASH_LENGTH) break;
  }
  return text;
};

/** Which pods: those that hold data, or the Sentinels. The value of the component label. */
export type Component = 'redis' | 'sentinel';

/** Every object name of one data set. Kinds are told apart by the functions that render them. */
export interface ObjectNames {
  readonly hash: string;
  readonly serviceAccount: string;
  /** StatefulSet and PodDisruptionBudget of the data pods, `<this>-<ordinal>` a pod, `data-<pod>` its claim. */
  readonly redis: string;
  /** StatefulSet and PodDisruptionBudget of the Sentinels. */
  readonly sentinel: string;
  readonly primaryService: string;
  readonly replicasService: string;
  readonly sentinelService: string;
  /** Headless, governs both StatefulSets and publishes addresses before readiness. */
  readonly podsService: string;
  readonly scripts: string;
  readonly config: string;
  readonly record: string;
  readonly credentialsSecret: string;
  readonly connectionSecret: string;
  /** Sentinel's name of the master: unique, never shared between data sets. */
  readonly masterName: string;
}

/** Names for a RedisCluster `name` of at most 40 characters; each fits its kind's limit. */
export const nameObjects = (name: string, dataSetId: DataSetId): ObjectNames => {
  const hash = formatDataSetHash(dataSetId);
  const base = `${name}-${hash}`;
  return {
    hash,
    serviceAccount: name,
    redis: base,
    sentinel: `${name.slice(0, SENTINEL_PREFIX_LENGTH)}-${hash}-sentinel`,
    primaryService: name,
    replicasService: `${name}-replicas`,
    sentinelService: `${name}-sentinel`,
    podsService: `${base}-pods`,
    scripts: `${base}-scripts`,
    config: `${base}-config`,
    record: `${base}-record`,
    credentialsSecret: `${base}-credentials`,
    connectionSecret: `${name}-connection`,
    masterName: base,
  };
};

/** Secret that tells the clients of a further user how to connect. */
export const userSecretName = (redisCluster: string, user: string): string => `${redisCluster}-user-${user}`;

export const VOLUME_CLAIM_PREFIX = 'data';

export const podName = (statefulSet: string, ordinal: number): string => `${statefulSet}-${ordinal}`;

/** The claim of one data pod. */
export const volumeClaimName = (pod: string): string => `${VOLUME_CLAIM_PREFIX}-${pod}`;

/** The ordinal at the end of a pod's name; undefined when there is none. */
export const parseOrdinal = (pod: string): number | undefined => {
  const digits = /-(\d+)$/.exec(pod)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/**
 * Sentinel's own id, 40 hex digits: SHA-1 of `<data set id>/<ordinal>`. Fixed, so that a replaced Sentinel pod takes the
 * place of its predecessor in the others' memory instead of leaving a ghost that counts in the majority.
 */
export const sentinelId = (dataSetId: DataSetId, ordinal: number): string =>
  createHash('sha1').update(`${dataSetId}/${ordinal}`).digest('hex');
