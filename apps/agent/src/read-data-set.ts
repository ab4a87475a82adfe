/** Joins the observer to the names and layouts of libs/manifests, which it may not import itself. */
import { dataSetIdOf, ownValue } from '#domain';
import type { RedisClusterObject } from '#domain';
import { aclExpectation } from './acl-expectation.ts';
import {
  APPLICATION_USER,
  CREDENTIALS_ANNOTATION,
  OPERATOR_USER,
  copySources,
  decodeRecord,
  digestSecretData,
  extraUserKey,
  extraUserOf,
  formatDataSetHash,
  hasAllCredentials,
  isOurs,
  nameObjects,
  nextPasswordKey,
  podName,
  previousPasswordKey,
  redisDirectives,
  resolveSpec,
  usablePassword,
  userSecretName,
  volumeClaimName,
} from '#manifests';
import type { ObjectNames } from '#manifests';
import type { DataSetAccess } from './observe/index.ts';

export const namesOf = (resource: RedisClusterObject): ObjectNames =>
  nameObjects(resource.metadata.name, dataSetIdOf(resource));

/** The current password, and where it is refused those that are valid besides while a rotation is on. */
const operatorLogin: DataSetAccess['redisLogin'] = (values, refusals) => {
  const passwords = [OPERATOR_USER, previousPasswordKey(OPERATOR_USER), nextPasswordKey(OPERATOR_USER)]
    .map((key) => ownValue(values, key))
    .filter((value) => value !== undefined);
  const password = passwords[refusals % Math.max(passwords.length, 1)];
  return password === undefined ? undefined : { username: OPERATOR_USER, password };
};

export const dataSetAccess: DataSetAccess = {
  hashOf: (resource) => formatDataSetHash(dataSetIdOf(resource)),
  masterNameOf: (resource) => namesOf(resource).masterName,
  configNamesOf: (resource) => [
    ...Object.keys(redisDirectives(resolveSpec(resource.spec))),
    'maxmemory',
    'replica-priority',
    'enable-protected-configs',
    'proc-title-template',
  ],
  credentialsSecretOf: (resource) => namesOf(resource).credentialsSecret,
  connectionSecretOf: (resource) => namesOf(resource).connectionSecret,
  claimNamesOf: (resource, record) => {
    const { storage, size } = resolveSpec(resource.spec);
    if (storage.type !== 'PersistentVolume') return [];
    const { redis } = namesOf(resource);
    // One more for as long as a rollout needs it.
    const pods = record?.surge === undefined ? size : size + 1;
    return Array.from({ length: pods }, (_, ordinal) => volumeClaimName(podName(redis, ordinal)));
  },
  credentialsComplete: (values) => hasAllCredentials(Object.keys(values)),
  connectionOutdated: (connection, credentials) => connection['password'] !== credentials[APPLICATION_USER],
  isOurs: (secret, { metadata }) => isOurs(secret, metadata.name),
  digestOf: digestSecretData,
  redisLogin: operatorLogin,
  sentinelLogin: operatorLogin,
  aclExpectation,
  copySourcesOf: ({ spec }) =>
    copySources(resolveSpec(spec)).map((source) => ({ ...source, nextKey: nextPasswordKey(source.passwordKey) })),
  usablePassword,
  userSecretsOf: ({ metadata, spec }, keys) => {
    const users = resolveSpec(spec).auth.users.filter(({ secretRef }) => secretRef === undefined);
    const wanted = new Set(users.map(({ name }) => name));
    const held = keys.flatMap((key) => extraUserOf(key) ?? []);
    return [...new Set([...wanted, ...held])].map((user) => ({
      passwordKey: extraUserKey(user),
      name: userSecretName(metadata.name, user),
      wanted: wanted.has(user),
    }));
  },
  awaitsClients: (annotations) => (annotations[CREDENTIALS_ANNOTATION.publishedAt] ?? '') !== '',
  readRecord: (child) => (child.kind === 'ConfigMap' ? decodeRecord(child) : undefined),
};
