/**
 * Passwords are made once, before the first pod, and published for clients. Invariant: they are never made anew under
 * running pods, which would go on with the old ones and lock everybody out, the agent first. Then a person has to
 * decide: put the Secret back, or let the pods go. So too where an older copy of the Secret was put back, and every server
 * refuses it; and no password is published that the servers do not take: clients that read it would be shut out.
 */
import {
  APPLICATION_USER,
  CREDENTIAL_USERS,
  connectionFields,
  copySources,
  extraUserOf,
  userSecretName,
} from '#manifests';
import type { Action, KubeObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { isAccepted, isRefusedByAll, readCredentials, readServers } from '../read-credentials.ts';
import { explainCopies } from '../rotation/follow-sources.ts';
import { askPerson } from '../rule.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

export const provideCredentials: Rule = {
  name: 'provide-credentials',
  decide: ({ view }) => {
    const { snapshot, names } = view;
    if (!snapshot.credentialsPresent) return createCredentials(view);
    const problem = explainRefusal(view) ?? explainForeign(view);
    const connection = findChild(snapshot, 'Secret', names.connectionSecret);
    const isThere = connection !== undefined;
    const further = publishUsers(view);
    const told = isThere && snapshot.connectionOutdated !== true && tellsFieldsOf(view, connection);
    const hold = isForeign(view, names.connectionSecret) || isRefusedByAll(view, APPLICATION_USER);
    if (told || hold) return furtherOnly(further, problem);
    const reason = isThere ? 'ConnectionDiffers' : 'ConnectionMissing';
    const message = `Publishing Secret ${names.connectionSecret} for clients.`;
    return { ...problem, reason, message, actions: [publish(view, reason, message), ...further] };
  },
};

const furtherOnly = (actions: readonly Action[], problem: RuleOutcome | undefined): RuleOutcome | undefined => {
  const [first] = actions;
  if (first === undefined) return problem;
  return { ...problem, reason: first.reason, message: first.message, actions };
};

const isForeign = ({ snapshot }: ClusterView, name: string): boolean =>
  snapshot.foreignSecrets?.includes(name) === true;

/** Servers that answer and let the agent in by no password of the Secret, each of which was tried. */
const explainRefusal = (view: ClusterView): RuleOutcome | undefined => {
  const servers = readServers(view);
  const refusing = servers.filter(({ refusesUs }) => refusesUs).map(({ pod }) => pod);
  if (refusing.length === 0) return undefined;
  const { credentialsSecret } = view.names;
  const nobodyElse = servers.every(({ component, refusesUs }) => component === 'sentinel' || refusesUs);
  const message =
    `${refusing.join(', ')} refuse every password of Secret ${credentialsSecret}: it is an older copy, or their users were ` +
    `changed by hand. They serve their clients as before, but nothing can be done with them. Put back the newest copy of the Secret; ` +
    tellOtherWay(view, nobodyElse, refusing);
  return credentialsProblem('PasswordsRefused', message);
};

/** One that is restarted alone could not log in at a primary that refuses the same passwords. */
const tellOtherWay = ({ spec }: ClusterView, all: boolean, refusing: readonly string[]): string => {
  if (!all) {
    return `or delete ${refusing.join(', ')}, one after another, each when the one before is linked again: they start with the passwords of this Secret.`;
  }
  return spec.persistenceEnabled
    ? 'where there is none, delete all these pods at once: they start from their volumes with the passwords of this Secret, and clients are then told those.'
    : 'where there is none, save the data by a client first: pods that are deleted start with the passwords of this Secret, but empty, since spec.persistence is off.';
};

/** Somebody else made a Secret under a name of ours: it is never written over, and its clients cannot be told. */
const explainForeign = (view: ClusterView): RuleOutcome | undefined => {
  const { key, names, spec } = view;
  const way = 'It is never written over. Delete or rename it, then the password is published there';
  const what = (name: string) => `Secret ${name} exists and was not made for this RedisCluster`;
  if (isForeign(view, names.connectionSecret)) {
    const message = `${what(names.connectionSecret)}, so clients cannot be told how to connect. ${way}.`;
    return credentialsProblem('SecretNotOurs', message);
  }
  const user = spec.auth.users.find(
    ({ name, secretRef }) => secretRef === undefined && isForeign(view, userSecretName(key.name, name)),
  );
  if (user === undefined) return undefined;
  const message =
    `${what(userSecretName(key.name, user.name))}, so clients of user ${user.name} cannot be told its password. ${way}; ` +
    'or give the user another name or a secretRef in spec.auth.users.';
  return credentialsProblem('SecretNotOurs', message);
};

/** A change of mode changes what clients are told. */
const tellsFieldsOf = ({ key, names, spec }: ClusterView, { keys }: KubeObject): boolean => {
  if (!Array.isArray(keys)) return true;
  const wanted = [...Object.keys(connectionFields(key, names, spec)), 'password'].sort();
  return wanted.join() === [...(keys as readonly string[])].sort().join();
};

const createCredentials = (view: ClusterView): RuleOutcome => {
  const { credentialsSecret, hash } = view.names;
  const running = view.dataPods.filter((pod) => pod.ip !== undefined).map((pod) => pod.name);
  if (findChild(view.snapshot, 'Secret', credentialsSecret) !== undefined) {
    const message = `Secret ${credentialsSecret} lacks passwords of some users. Restore it from its newest copy.`;
    return credentialsProblem('CredentialsIncomplete', message);
  }
  if (running.length > 0) {
    const message =
      `Secret ${credentialsSecret} is gone while ${running.join(', ')} still use its passwords. ` +
      'Restore its newest copy, or delete these pods: then new passwords are made.';
    return credentialsProblem('CredentialsLost', message);
  }
  const problem = explainCopies(view);
  if (problem !== undefined) return problem;
  const reason = 'CredentialsMissing';
  const message = `Making passwords in Secret ${credentialsSecret}.`;
  const key = { namespace: view.key.namespace, name: credentialsSecret };
  const users = [...CREDENTIAL_USERS];
  const sources = copySources(view.spec).filter(({ passwordKey }) => passwordKey === APPLICATION_USER);
  const copyFrom = Object.fromEntries(sources.map((source) => [source.passwordKey, source]));
  return {
    reason,
    message,
    actions: [
      { kind: 'CreateCredentials', key, dataSetHash: hash, users, copyFrom, reason, message, disruptive: false },
      publish(view, reason, `Publishing Secret ${view.names.connectionSecret} for clients.`),
    ],
  };
};

const credentialsProblem = (reason: string, message: string): RuleOutcome => {
  const outcome = askPerson(reason, message);
  return {
    ...outcome,
    findings: [...(outcome.findings ?? []), { type: 'CredentialsInSync', status: 'False', reason, message }],
  };
};

const publish = (view: ClusterView, reason: string, message: string): Action => ({
  kind: 'PublishConnection',
  key: { namespace: view.key.namespace, name: view.names.connectionSecret },
  fields: connectionFields(view.key, view.names, view.spec),
  reason,
  message,
  disruptive: false,
});

/** Secrets <name>-user-<user> of those further users that have a password of the agent's which some server takes. */
const publishUsers = (view: ClusterView): readonly Action[] => {
  const held = readCredentials(view)?.held ?? [];
  return Object.entries(view.snapshot.userConnections ?? {}).flatMap(([passwordKey, state]): Action[] => {
    const user = extraUserOf(passwordKey);
    if (state === 'CURRENT' || user === undefined || !held.includes(passwordKey) || !isAccepted(view, user)) return [];
    const name = userSecretName(view.key.name, user);
    return [
      {
        kind: 'PublishConnection',
        key: { namespace: view.key.namespace, name },
        fields: connectionFields(view.key, view.names, view.spec, user),
        passwordKey,
        reason: state === 'MISSING' ? 'ConnectionMissing' : 'ConnectionDiffers',
        message: `Publishing Secret ${name} for clients.`,
        disruptive: false,
      },
    ];
  });
};
