/** Joins the observer to the names and layouts of libs/manifests, which it may not import itself. */
import { dataSetIdOf } from '#domain';
import type { RedisClusterObject } from '#domain';
import {
  APPLICATION_USER,
  OPERATOR_USER,
  decodeRecord,
  digestSecretData,
  formatDataSetHash,
  hasAllCredentials,
  nameObjects,
  redisDirectives,
  resolveSpec,
} from '#manifests';
import type { ObjectNames } from '#manifests';
import type { DataSetAccess } from './observe/index.ts';

export const namesOf = (resource: RedisClusterObject): ObjectNames =>
  nameObjects(resource.metadata.name, dataSetIdOf(resource));

const operatorLogin: DataSetAccess['redisLogin'] = (values) => {
  const password = values[OPERATOR_USER];
  return password === undefined ? undefined : { username: OPERATOR_USER, password };
};

export const dataSetAccess: DataSetAccess = {
  hashOf: (resource) => formatDataSetHash(dataSetIdOf(resource)),
  masterNameOf: (resource) => namesOf(resource).masterName,
  configNamesOf: (resource) => [
    ...Object.keys(redisDirectives(resolveSpec(resource.spec))),
    'replica-priority',
    'enable-protected-configs',
  ],
  credentialsSecretOf: (resource) => namesOf(resource).credentialsSecret,
  connectionSecretOf: (resource) => namesOf(resource).connectionSecret,
  credentialsComplete: (values) => hasAllCredentials(Object.keys(values)),
  connectionOutdated: (connection, credentials) => connection['password'] !== credentials[APPLICATION_USER],
  digestOf: digestSecretData,
  redisLogin: operatorLogin,
  sentinelLogin: operatorLogin,
  readRecord: (child) => (child.kind === 'ConfigMap' ? decodeRecord(child) : undefined),
};
