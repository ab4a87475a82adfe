/** Whom a server should let in, with passwords as SHA-256: for comparing what it says, and for setting its users. */
import { ownValue } from '#domain';
import type { RedisClusterObject } from '#domain';
import {
  REPLICATION_USER,
  SENTINEL_USER,
  extraUserOf,
  nextPasswordKey,
  previousPasswordKey,
  resolveSpec,
  wantedUsers,
} from '#manifests';
import { hashPassword } from '#redis';
import type { AclExpectation, ExpectedUser } from '#redis';

/** `values` of the credentials Secret. A user that has no password there yet is left out. */
export const aclExpectation = (
  { spec }: RedisClusterObject,
  component: 'redis' | 'sentinel',
  values: Readonly<Record<string, string>>,
): AclExpectation => {
  const wanted = Object.entries(wantedUsers(resolveSpec(spec), component));
  const users = wanted.flatMap(([name, { passwordKey, rules }]): [string, ExpectedUser][] => {
    if (passwordKey === undefined) return [[name, { rules }]];
    if (ownValue(values, passwordKey) === undefined) return [];
    return [
      [
        name,
        {
          rules,
          ...hashOf('current', ownValue(values, passwordKey)),
          ...hashOf('next', ownValue(values, nextPasswordKey(passwordKey))),
          ...hashOf('previous', ownValue(values, previousPasswordKey(passwordKey))),
        },
      ],
    ];
  });
  const names = new Set(wanted.map(([name]) => name));
  const held = Object.keys(values).flatMap((key) => extraUserOf(key) ?? []);
  const login = values[component === 'redis' ? REPLICATION_USER : SENTINEL_USER];
  return {
    users: Object.fromEntries(users),
    goners: held.filter((user) => !names.has(user)),
    ...(login === undefined ? {} : { peerLogin: hashPassword(login) }),
  };
};

const hashOf = <K extends 'current' | 'next' | 'previous'>(
  key: K,
  password: string | undefined,
): { readonly [P in K]?: string } =>
  (password === undefined ? {} : { [key]: hashPassword(password) }) as { [P in K]?: string };
