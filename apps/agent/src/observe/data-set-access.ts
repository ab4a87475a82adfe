/**
 * What the observer must know of names and layouts that libs/manifests decides. Given by the composition root, because
 * this folder reads the world and renders nothing.
 */
import type { DataSetRecord, KubeObject, RedisClusterObject } from '#domain';
import type { RedisCredentials } from '#redis';

export interface DataSetAccess {
  /** Hash of the data set id, the value of the data set label. */
  hashOf(resource: RedisClusterObject): string;
  /** Sentinel's name of the master. */
  masterNameOf(resource: RedisClusterObject): string;
  /** Directives whose live values are compared with the spec: the user's, and those that follow from other fields. */
  configNamesOf(resource: RedisClusterObject): readonly string[];
  credentialsSecretOf(resource: RedisClusterObject): string;
  connectionSecretOf(resource: RedisClusterObject): string;
  /** True when the Secret's values hold all that the pods need. */
  credentialsComplete(values: Readonly<Record<string, string>>): boolean;
  /** Whether the connection Secret tells clients another password than the credentials hold. */
  connectionOutdated(
    connection: Readonly<Record<string, string>>,
    credentials: Readonly<Record<string, string>>,
  ): boolean;
  /** What stands for a Secret's values in the snapshot. */
  digestOf(values: Readonly<Record<string, string>>): string;
  /** What the agent logs in with at data pods and at Sentinels; undefined when the Secret lacks it. */
  redisLogin(values: Readonly<Record<string, string>>): RedisCredentials | undefined;
  sentinelLogin(values: Readonly<Record<string, string>>): RedisCredentials | undefined;
  /** The data set's record out of one of its ConfigMaps; undefined for any other object. */
  readRecord(child: KubeObject): DataSetRecord | undefined;
}
