/**
 * What becomes of Secrets, users and logins when a plan is followed without a world: every step succeeds at once. Pure;
 * for previews only.
 */
import { dataSetIdOf, ownValue } from '#domain';
import type { Action, AclUserSeen, KubeObject, ObjectKey, RedisClusterSnapshot } from '#domain';
import { nameObjects, nextPasswordKey, previousPasswordKey, resolveSpec, wantedUsers } from '#manifests';
import { findChild } from '../find-child.ts';
import { changeRedis, changeSentinel, putChild } from './change-snapshot.ts';

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>;
type Follow<K extends Action['kind']> = (snapshot: RedisClusterSnapshot, action: Of<K>) => RedisClusterSnapshot;

const putSecret = (
  snapshot: RedisClusterSnapshot,
  { name, namespace }: ObjectKey,
  keys: readonly string[],
): RedisClusterSnapshot => {
  const live = findChild(snapshot, 'Secret', name);
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, ...live, keys };
  return putChild(snapshot, secret);
};

export const createCredentials: Follow<'CreateCredentials'> = (snapshot, { key, users }) => ({
  ...putSecret(snapshot, key, users),
  credentialsPresent: true,
});

export const publishConnection: Follow<'PublishConnection'> = (snapshot, { key, fields, passwordKey }) => {
  const next = putSecret(snapshot, key, [...Object.keys(fields), 'password']);
  return passwordKey === undefined
    ? { ...next, connectionOutdated: false }
    : { ...next, userConnections: { ...next.userConnections, [passwordKey]: 'CURRENT' } };
};

export const writeCredentials: Follow<'WriteCredentials'> = (snapshot, action) => {
  const secret = findChild(snapshot, 'Secret', action.key.name);
  if (secret === undefined) return snapshot;
  const keys = keysAfter((secret['keys'] as readonly string[] | undefined) ?? [], action);
  const annotations = Object.fromEntries(
    Object.entries({ ...secret.metadata.annotations, ...action.annotations }).filter(([, value]) => value !== ''),
  );
  const next = putChild(snapshot, { ...secret, keys, metadata: { ...secret.metadata, annotations } });
  const had = (secret['keys'] as readonly string[] | undefined) ?? [];
  const copied = Object.keys(action.copyFrom ?? {}).map((key) => [key, had.includes(key) ? 'NEXT' : 'SAME'] as const);
  const switched =
    action.step === 'SWITCH' ? action.passwordKeys.filter((key) => ownValue(next.copies, key) === 'NEXT') : [];
  const copies = { ...next.copies, ...Object.fromEntries([...copied, ...switched.map((key) => [key, 'SAME'])]) };
  return Object.keys(copies).length === 0 ? next : { ...next, copies };
};

const keysAfter = (keys: readonly string[], { step, passwordKeys }: Of<'WriteCredentials'>): readonly string[] => {
  const without = (gone: readonly string[]): readonly string[] => keys.filter((key) => !gone.includes(key));
  switch (step) {
    case 'ADD':
      return [...new Set([...keys, ...passwordKeys.map((key) => (keys.includes(key) ? nextPasswordKey(key) : key))])];
    case 'SWITCH':
      return [...without(passwordKeys.map(nextPasswordKey)), ...passwordKeys.map(previousPasswordKey)];
    case 'PUBLISHED':
      return keys;
    case 'REMOVE_PREVIOUS':
      return without(passwordKeys.map(previousPasswordKey));
    case 'REMOVE_USERS':
      return without(passwordKeys.flatMap((key) => [key, nextPasswordKey(key), previousPasswordKey(key)]));
  }
};

export const setUsers: Follow<'SetUsers'> = (snapshot, { pod, component, users, remove = [] }) => {
  const { resource } = snapshot;
  const wanted = wantedUsers(resolveSpec(resource.spec), component);
  const { credentialsSecret } = nameObjects(resource.metadata.name, dataSetIdOf(resource));
  const keys = (findChild(snapshot, 'Secret', credentialsSecret)?.['keys'] as readonly string[] | undefined) ?? [];
  const seen = (user: string): AclUserSeen => {
    const key = ownValue(wanted, user)?.passwordKey ?? user;
    return {
      acceptsCurrent: true,
      acceptsPrevious: keys.includes(previousPasswordKey(key)),
      acceptsNext: keys.includes(nextPasswordKey(key)),
      acceptsOthers: false,
      rulesAsWanted: true,
    };
  };
  const settle = (before: Readonly<Record<string, AclUserSeen>> = {}): Readonly<Record<string, AclUserSeen>> => ({
    ...Object.fromEntries(Object.entries(before).filter(([user]) => !remove.includes(user))),
    ...Object.fromEntries(users.map((user) => [user, seen(user)])),
  });
  return component === 'redis'
    ? changeRedis(snapshot, pod, (facts) => ({ ...facts, users: settle(facts.users) }))
    : changeSentinel(snapshot, pod, (facts) => ({ ...facts, users: settle(facts.users) }));
};

export const setReplicationLogin: Follow<'SetReplicationLogin'> = (snapshot, { pod }) =>
  changeRedis(snapshot, pod, (facts) => ({ ...facts, peerLoginCurrent: true }));

export const setSentinelLogin: Follow<'SetSentinelLogin'> = (snapshot, { sentinelPod }) =>
  changeSentinel(snapshot, sentinelPod, (facts) => ({ ...facts, peerLoginCurrent: true }));
