/**
 * What the observer must know of names and layouts that libs/manifests decides. Given by the composition root, because
 * this folder reads the world and renders nothing.
 */
import type { DataSetRecord, KubeObject, RedisClusterObject } from '#domain';
import type { AclExpectation, RedisCredentials } from '#redis';

/** Where a password is copied from: a Secret of the user's and a key in it. */
export interface CopySource {
  /** Keys in the credentials Secret: of the current password, and of the coming one while there is one. */
  readonly passwordKey: string;
  readonly nextKey: string;
  readonly name: string;
  readonly key: string;
}

export interface DataSetAccess {
  /** Hash of the data set id, the value of the data set label. */
  hashOf(resource: RedisClusterObject): string;
  /** Sentinel's name of the master. */
  masterNameOf(resource: RedisClusterObject): string;
  /** Directives whose live values are compared with the spec: the user's, and those that follow from other fields. */
  configNamesOf(resource: RedisClusterObject): readonly string[];
  credentialsSecretOf(resource: RedisClusterObject): string;
  connectionSecretOf(resource: RedisClusterObject): string;
  /** Claims that the data pods of this object mount, by ordinal; none where the data lie on no volume. */
  claimNamesOf(resource: RedisClusterObject, record: DataSetRecord | undefined): readonly string[];
  /** True when the Secret's values hold all that the pods need. */
  credentialsComplete(values: Readonly<Record<string, string>>): boolean;
  /** Whether the connection Secret tells clients another password than the credentials hold. */
  connectionOutdated(
    connection: Readonly<Record<string, string>>,
    credentials: Readonly<Record<string, string>>,
  ): boolean;
  /** Whether a live Secret, with its managedFields, was made for this RedisCluster. */
  isOurs(secret: KubeObject, resource: RedisClusterObject): boolean;
  /** What stands for a Secret's values in the snapshot. */
  digestOf(values: Readonly<Record<string, string>>): string;
  /**
   * What the agent logs in with at data pods and at Sentinels; undefined when the Secret lacks it. `refusals`: how often
   * this server refused a login; a pod whose Secret lags still knows the password before.
   */
  redisLogin(values: Readonly<Record<string, string>>, refusals: number): RedisCredentials | undefined;
  sentinelLogin(values: Readonly<Record<string, string>>, refusals: number): RedisCredentials | undefined;
  /** Whom a server should let in. */
  aclExpectation(
    resource: RedisClusterObject,
    component: 'redis' | 'sentinel',
    values: Readonly<Record<string, string>>,
  ): AclExpectation;
  copySourcesOf(resource: RedisClusterObject): readonly CopySource[];
  /** undefined: not there, or no password. */
  usablePassword(value: string | undefined): string | undefined;
  /** Secrets for clients of further users: those wanted, and those of users that are ours and no longer wanted. */
  userSecretsOf(
    resource: RedisClusterObject,
    keys: readonly string[],
  ): readonly { readonly passwordKey: string; readonly name: string; readonly wanted: boolean }[];
  /** By the annotations of the credentials Secret: old passwords are valid until their clients are gone. */
  awaitsClients(annotations: Readonly<Record<string, string>>): boolean;
  /** The data set's record out of one of its ConfigMaps; undefined for any other object. */
  readRecord(child: KubeObject): DataSetRecord | undefined;
}
