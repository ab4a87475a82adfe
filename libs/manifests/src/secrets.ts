/**
 * The layout of the Secrets of a data set. `<name>-<hash>-credentials` belongs to the agent: per user one key with the
 * current password and, during a rotation, `<user>.next` with the coming one until every server accepts it, afterwards
 * `<user>.previous` with the one before. Invariant: what is current is accepted by every server, whatever step a rotation
 * was cut off at. `<name>-connection` is what clients read, `<name>-user-<user>` what those of a further user read. Passwords enter here as values and go nowhere but into these Secrets.
 */
import { createHash } from 'node:crypto';
import {
  ANNOTATION,
  API_GROUP,
  REDIS_PORT,
  SENTINEL_PORT,
  type KubeObject,
  type ResolvedSpec,
  ownValue,
} from '#domain';
import { childAnnotations, childLabels, type ChildOwner } from './labels.ts';
import type { ObjectNames } from './names.ts';

/** Who logs in: the agent, replicas at their primary, Sentinels, and the user's applications. */
export const CREDENTIAL_USERS = ['atoll', 'replication', 'sentinel', 'app'] as const;
export type CredentialUser = (typeof CREDENTIAL_USERS)[number];

export const OPERATOR_USER: CredentialUser = 'atoll';
export const APPLICATION_USER: CredentialUser = 'app';
export const SENTINEL_USER: CredentialUser = 'sentinel';
export const REPLICATION_USER: CredentialUser = 'replication';

/** Key of the password of a user that the spec adds. */
export const extraUserKey = (user: string): string => `user.${user}`;

/** The user of such a key; undefined for any other key. */
export const extraUserOf = (key: string): string | undefined => /^user\.([a-z0-9-]+)$/.exec(key)?.[1];

/** Key of a password that is to become the current one, once every server accepts it. */
export const nextPasswordKey = (key: string): string => `${key}.next`;

/** Key of the password before the current one, valid until a rotation has ended. */
export const previousPasswordKey = (key: string): string => `${key}.previous`;

/** A password as a Secret of a user's holds it, without the line end that a file brings along. */
export const usablePassword = (value: string | undefined): string | undefined => {
  const password = value?.replace(/\r?\n$/, '') ?? '';
  return /^[ -~]{1,512}$/.test(password) ? password : undefined;
};

/** Annotations of the credentials Secret: where a rotation stands, for an agent that knows nothing else. */
export const CREDENTIALS_ANNOTATION = {
  /** Counts rotations, from 1. */
  version: `${API_GROUP}/credentials-version`,
  /** RFC 3339, while old passwords are valid: when the new ones were published. */
  publishedAt: `${API_GROUP}/credentials-published-at`,
  /** uid of the RedisOperation that asked for the last rotation. */
  rotatedFor: ANNOTATION.rotationOperation,
} as const;

/** True when every user has a password of which the servers accept any. */
export const hasAllCredentials = (keys: readonly string[]): boolean =>
  CREDENTIAL_USERS.every((user) => keys.includes(user));

/** Secret `<name>-<hash>-credentials`; one password a user, letters and digits only, so that no quoting can go wrong. */
export const renderCredentials = (
  owner: ChildOwner,
  name: string,
  passwords: Readonly<Record<CredentialUser, string>>,
): KubeObject => renderSecret(owner, name, { ...passwords });

/** What clients need to know, without the password. Keys are a promise to users. */
export const connectionFields = (
  owner: Pick<ChildOwner, 'namespace'>,
  names: ObjectNames,
  spec: Pick<ResolvedSpec, 'mode'>,
  username: string = APPLICATION_USER,
): Record<string, string> => ({
  mode: spec.mode,
  host: `${names.primaryService}.${owner.namespace}.svc`,
  port: String(REDIS_PORT),
  username,
  ...(spec.mode === 'Sentinel'
    ? {
        sentinelHost: `${names.sentinelService}.${owner.namespace}.svc`,
        sentinelPort: String(SENTINEL_PORT),
        masterName: names.masterName,
      }
    : {}),
});

/** Secret `<name>-connection`: the fields above with the application's password, which Sentinels take as well. */
export const renderConnection = (
  owner: ChildOwner,
  name: string,
  fields: Readonly<Record<string, string>>,
  password: string,
): KubeObject => renderSecret(owner, name, { ...fields, password });

/** What stands for a Secret's content in a snapshot: 16 hex digits that differ when any value differs. */
export const digestSecretData = (data: Readonly<Record<string, string>>): string => {
  const hash = createHash('sha256');
  for (const key of Object.keys(data).sort()) {
    const value = ownValue(data, key) ?? '';
    hash.update(`${key.length}:${key}${value.length}:${value}`);
  }
  return hash.digest('hex').slice(0, 16);
};

const renderSecret = (owner: ChildOwner, name: string, values: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: owner.namespace,
    labels: childLabels(owner, 'all'),
    annotations: childAnnotations(owner),
  },
  type: 'Opaque',
  data: Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  ),
});
