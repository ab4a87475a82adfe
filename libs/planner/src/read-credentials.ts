/**
 * Where the passwords of a data set stand, from the credentials Secret (keys and annotations, no values) and from what
 * each server says of its users. Pure: an agent that was killed between any two steps reads the same again.
 */
import { ownValue } from '#domain';
import type { AclUserSeen, KubeObject } from '#domain';
import {
  APPLICATION_USER,
  CREDENTIALS_ANNOTATION,
  CREDENTIAL_USERS,
  copySources,
  extraUserKey,
  extraUserOf,
  nextPasswordKey,
  previousPasswordKey,
  wantedUsers,
} from '#manifests';
import type { ClusterView } from './cluster-view.ts';
import { lacksRoom } from './explain-stuck-pod.ts';
import { findChild } from './find-child.ts';

export interface CredentialsView {
  readonly secret: KubeObject;
  /** Keys that hold a current password. */
  readonly held: readonly string[];
  /** Of those, with a coming one, and with one of before. */
  readonly next: readonly string[];
  readonly previous: readonly string[];
  readonly version: number;
  /** When clients were told the current ones; absent while they were not, and when nothing is waited for. */
  readonly publishedAtMs: number | undefined;
}

/** undefined while there is no such Secret, or none that was read. */
export const readCredentials = ({ snapshot, names }: ClusterView): CredentialsView | undefined => {
  const secret = findChild(snapshot, 'Secret', names.credentialsSecret);
  const keys = secret?.['keys'] as readonly string[] | undefined;
  if (secret === undefined || keys === undefined) return undefined;
  const held = keys.filter((key) => CREDENTIAL_USERS.some((user) => user === key) || extraUserOf(key) !== undefined);
  const { annotations = {} } = secret.metadata;
  const publishedAtMs = Date.parse(annotations[CREDENTIALS_ANNOTATION.publishedAt] ?? '');
  return {
    secret,
    held,
    next: held.filter((key) => keys.includes(nextPasswordKey(key))),
    previous: held.filter((key) => keys.includes(previousPasswordKey(key))),
    version: Number(annotations[CREDENTIALS_ANNOTATION.version] ?? '1') || 1,
    publishedAtMs: Number.isNaN(publishedAtMs) ? undefined : publishedAtMs,
  };
};

/** A process that lets users in: a data pod or a Sentinel that has an address. */
export interface ServerSeen {
  readonly pod: string;
  readonly component: 'redis' | 'sentinel';
  /** undefined: it was not asked, or does not answer. */
  readonly users: Readonly<Record<string, AclUserSeen>> | undefined;
  readonly peerLoginCurrent: boolean | undefined;
  /** It answers, and lets the agent in by no password that the Secret holds. */
  readonly refusesUs: boolean;
}

export const readServers = ({ dataPods, sentinelPods }: ClusterView): readonly ServerSeen[] =>
  [...dataPods, ...sentinelPods]
    .filter((pod) => pod.ip !== undefined && !pod.terminating)
    .map(({ name, component, facts, lastWords }) => ({
      pod: name,
      component,
      users: facts.reachable ? facts.users : undefined,
      peerLoginCurrent: facts.reachable ? facts.peerLoginCurrent : undefined,
      // What waits for room on its volume lets nobody in, and is no server yet.
      refusesUs: !facts.reachable && facts.reason === 'AUTH' && !lacksRoom({ lastWords }),
    }));

/** Whether a server was asked, and lets this user in by the current password. */
export const isAccepted = (view: ClusterView, user: string): boolean =>
  readServers(view).some(({ users }) => ownValue(users, user)?.acceptsCurrent === true);

/** Servers that answer, and not one of them lets this user in by the current password. */
export const isRefusedByAll = (view: ClusterView, user: string): boolean =>
  readServers(view).some(({ users, refusesUs }) => users !== undefined || refusesUs) && !isAccepted(view, user);

/** Users of this server that are not as they should be; empty for one that was not asked. */
export const findUnsettledUsers = (
  { spec }: ClusterView,
  credentials: CredentialsView,
  { component, users }: ServerSeen,
): readonly string[] => {
  if (users === undefined) return [];
  return Object.entries(wantedUsers(spec, component))
    .filter(([, { passwordKey }]) => passwordKey === undefined || credentials.held.includes(passwordKey))
    .filter(([name, { passwordKey }]) => !isAsWanted(ownValue(users, name), credentials, passwordKey))
    .map(([name]) => name);
};

/** Users that are ours by the Secret, that the spec no longer names, and that this server still lets in. */
export const findGoners = ({ spec }: ClusterView, { users = {} }: ServerSeen): readonly string[] => {
  const wanted = wantedUsers(spec, 'redis');
  return Object.keys(users).filter((name) => !Object.hasOwn(wanted, name));
};

const isAsWanted = (
  seen: AclUserSeen | undefined,
  { next, previous }: CredentialsView,
  key: string | undefined,
): boolean => {
  if (seen === undefined) return false;
  if (seen.refused === true && letsNobodyIn(seen)) return true;
  if (seen.acceptsOthers || !seen.rulesAsWanted) return false;
  if (key === undefined) return true;
  const nextAsWanted = !next.includes(key) || seen.acceptsNext === true;
  return seen.acceptsCurrent && nextAsWanted && seen.acceptsPrevious === previous.includes(key);
};

/** Its rules were refused before it ever existed: there is nobody to give a password to. */
const letsNobodyIn = (seen: AclUserSeen): boolean =>
  !seen.acceptsCurrent && !seen.acceptsPrevious && seen.acceptsNext !== true && !seen.acceptsOthers;

/** The first server that does not yet do as the Secret says, with what is wrong there; undefined: all do. */
export const findLaggard = (view: ClusterView, credentials: CredentialsView): string | undefined => {
  // It may start with the passwords that its volume was filled with a while ago.
  const unborn = view.dataPods.find(({ ip, terminating }) => ip === undefined && !terminating);
  if (unborn !== undefined) return `${unborn.name} does not run yet`;
  for (const server of readServers(view)) {
    if (server.users === undefined) return `${server.pod} does not answer`;
    const [user] = findUnsettledUsers(view, credentials, server);
    if (user !== undefined) return `user ${user} of ${server.pod} is not as the Secret says yet`;
    if (server.peerLoginCurrent === false) return `${server.pod} still logs in with the password before`;
  }
  return undefined;
};

/** Password keys of clients: the application's and those of further users. */
export const isClientKey = (key: string): boolean => key === APPLICATION_USER || extraUserOf(key) !== undefined;

/** A client connection that was made before the current password was published. */
export const isOldInUse = (view: ClusterView, { previous, publishedAtMs }: CredentialsView): boolean => {
  if (publishedAtMs === undefined) return false;
  const sinceS = (view.nowMs - publishedAtMs) / 1_000 + 1;
  const users = previous.filter(isClientKey).map((key) => extraUserOf(key) ?? key);
  return readServers(view).some(({ users: seen = {} }) =>
    users.some((user) => (ownValue(seen, user)?.oldestConnectionSeconds ?? 0) > sinceS),
  );
};

/** Who they are, each with the user and the server; sorted, so that the sentence stands still. */
export const listOldClients = (view: ClusterView, { previous, publishedAtMs }: CredentialsView): readonly string[] => {
  if (publishedAtMs === undefined) return [];
  const sinceS = (view.nowMs - publishedAtMs) / 1_000 + 1;
  const users = previous.filter(isClientKey).map((key) => extraUserOf(key) ?? key);
  const told = readServers(view).flatMap(({ pod, users: seen = {} }) =>
    users.flatMap((user) =>
      (ownValue(seen, user)?.oldest ?? [])
        .filter(({ ageSeconds }) => ageSeconds > sinceS)
        .map(({ address }) => `${address} (${user} at ${pod})`),
    ),
  );
  return [...new Set(told)].sort();
};

/** Names the end of the rotation that is on, for a RedisOperation Consent: of this one, and of no later one. */
export const endRotationHash = ({ version }: CredentialsView): string => `end-rotation-${version}`;

/** Keys whose password the agent makes itself. */
export const ownKeys = ({ spec }: ClusterView): readonly string[] => {
  const copied = new Set(copySources(spec).map(({ passwordKey }) => passwordKey));
  return [...CREDENTIAL_USERS, ...spec.auth.users.map(({ name }) => extraUserKey(name))].filter(
    (key) => !copied.has(key),
  );
};
