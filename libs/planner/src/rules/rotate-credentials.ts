/**
 * Rotation of passwords with two valid ones all along, each step read from the credentials Secret and from the servers:
 * a coming password is written beside the current one → every server accepts both → it becomes current → replicas and
 * Sentinels log in with it, clients are told → the grace period, and no client connection older than that → the one
 * before goes. Invariant: the current password is accepted by every server at any time; nothing is taken away that
 * somebody who was told no better still needs. One rotation at a time. Without the wait for every server a replica that
 * was away would be locked out for good.
 */
import { LABEL } from '#domain';
import type { Action } from '#domain';
import {
  APPLICATION_USER,
  CREDENTIALS_ANNOTATION,
  copySources,
  extraUserKey,
  extraUserOf,
  userSecretName,
} from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { rotationAsked } from '../operations/rotation-asked.ts';
import { findLaggard, findGoners, isOldInUse, ownKeys, readCredentials, readServers } from '../read-credentials.ts';
import type { CredentialsView } from '../read-credentials.ts';
import type { Rule, RuleContext, RuleOutcome } from '../rule.ts';

export const rotateCredentials: Rule = {
  name: 'rotate-credentials',
  decide: (context) => {
    const { view } = context;
    const credentials = readCredentials(view);
    if (credentials === undefined || !view.specUsable || !view.snapshot.credentialsPresent) return undefined;
    if (credentials.next.length > 0) return switchOver(context, credentials);
    if (credentials.previous.length > 0) return endRotation(context, credentials);
    return keepUsers(view, credentials) ?? startRotation(context, credentials);
  },
};

type What = Pick<Extract<Action, { kind: 'WriteCredentials' }>, 'step' | 'passwordKeys'> & {
  readonly copyFrom?: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

const write = (
  view: ClusterView,
  { secret }: CredentialsView,
  what: What,
  told: { readonly reason: string; readonly message: string },
): RuleOutcome => ({
  ...told,
  actions: [
    {
      kind: 'WriteCredentials',
      key: { namespace: view.key.namespace, name: view.names.credentialsSecret },
      resourceVersion: secret.metadata.resourceVersion ?? '',
      annotations: {},
      ...what,
      ...told,
      disruptive: false,
    },
  ],
});

const hold = (reason: string, message: string): RuleOutcome => ({
  reason,
  message,
  findings: [{ type: 'CredentialsInSync', status: 'False', reason, message }],
});

const withFinding = (outcome: RuleOutcome): RuleOutcome => ({
  ...outcome,
  findings: [{ type: 'CredentialsInSync', status: 'False', reason: outcome.reason, message: outcome.message }],
});

const switchOver = ({ view }: RuleContext, credentials: CredentialsView): RuleOutcome => {
  const laggard = findLaggard(view, credentials);
  if (laggard !== undefined) {
    return hold('RotationAdding', `New passwords are made; ${laggard}. The old ones stay valid everywhere.`);
  }
  const message = 'Every server accepts the new passwords: they become the current ones.';
  return withFinding(
    write(
      view,
      credentials,
      { step: 'SWITCH', passwordKeys: credentials.next },
      { reason: 'RotationSwitching', message },
    ),
  );
};

const endRotation = (context: RuleContext, credentials: CredentialsView): RuleOutcome => {
  const { view } = context;
  const laggard = findLaggard(view, credentials) ?? findUnlinked(context);
  if (credentials.publishedAtMs === undefined) return publish(view, credentials, laggard);
  const { spec, policy, nowMs } = view;
  const graceMs = policy.gracePeriodMs ?? spec.auth.gracePeriodMs;
  const untilMs = credentials.publishedAtMs + graceMs;
  if (nowMs < untilMs) {
    const until = new Date(untilMs).toISOString();
    return hold('RotationWaiting', `The new passwords are published; the old ones stay valid until ${until} at least.`);
  }
  if (isOldInUse(view, credentials)) {
    const message =
      'Clients are still connected since before the new password was published; the old one stays valid until they have gone.';
    return hold('OldPasswordInUse', message);
  }
  if (laggard !== undefined) return hold('RotationWaiting', `The old passwords stay valid: ${laggard}.`);
  const message = 'No connection is left that knows only the old passwords: they are taken away.';
  return withFinding(
    write(
      view,
      credentials,
      {
        step: 'REMOVE_PREVIOUS',
        passwordKeys: credentials.previous,
        annotations: { [CREDENTIALS_ANNOTATION.publishedAt]: '' },
      },
      { reason: 'RotationRemoving', message },
    ),
  );
};

/** That replication works with the new password is shown by links that are up, and that may be made anew at any time. */
const findUnlinked = ({ view, primary }: RuleContext): string | undefined => {
  if (primary === undefined) return 'there is no confirmed primary';
  const unlinked = view.dataPods.find(
    ({ name, facts }) => name !== primary.name && facts.reachable && facts.linkUp !== true,
  );
  return unlinked === undefined ? undefined : `${unlinked.name} is not linked to the primary`;
};

const publish = (view: ClusterView, credentials: CredentialsView, laggard: string | undefined): RuleOutcome => {
  if (laggard !== undefined) return hold('RotationSwitching', `The new passwords are current; ${laggard}.`);
  const { connectionOutdated, userConnections = {} } = view.snapshot;
  // Published by provide-credentials as soon as they are current.
  if (connectionOutdated === true || Object.values(userConnections).includes('OUTDATED')) {
    return hold('RotationPublishing', 'The new passwords are being published for clients.');
  }
  const foreign = findForeign(view, credentials);
  if (foreign !== undefined) {
    return hold('RotationPublishing', `The new passwords cannot be published: Secret ${foreign} was made by others.`);
  }
  const annotations = { [CREDENTIALS_ANNOTATION.publishedAt]: new Date(view.nowMs).toISOString() };
  const message = 'The new passwords are published; the old ones stay valid for the grace period.';
  return withFinding(
    write(
      view,
      credentials,
      { step: 'PUBLISHED', passwordKeys: [], annotations },
      { reason: 'RotationPublished', message },
    ),
  );
};

/** Whoever reads the new password there has not been told it: the old one stays. */
const findForeign = (
  { snapshot, names, key, spec }: ClusterView,
  { previous }: CredentialsView,
): string | undefined => {
  const read = spec.auth.users
    .filter(({ name, secretRef }) => secretRef === undefined && previous.includes(extraUserKey(name)))
    .map(({ name }) => userSecretName(key.name, name));
  const told = previous.includes(APPLICATION_USER) ? [names.connectionSecret, ...read] : read;
  return told.find((name) => snapshot.foreignSecrets?.includes(name) === true);
};

/** Passwords of new users, and the end of removed ones: no rotation, since nobody knows another password of theirs. */
const keepUsers = (view: ClusterView, credentials: CredentialsView): RuleOutcome | undefined => {
  const { held } = credentials;
  const wanted = view.spec.auth.users.map(({ name }) => extraUserKey(name));
  const sources = sourcesOf(view);
  const fresh = wanted.filter(
    (key) => !held.includes(key) && (sources[key] === undefined || view.snapshot.copies?.[key] === 'DIFFERENT'),
  );
  if (fresh.length > 0) {
    const message = `Making passwords for users ${fresh.map(extraUserOf).join(', ')}.`;
    const copyFrom = Object.fromEntries(Object.entries(sources).filter(([key]) => fresh.includes(key)));
    return write(view, credentials, { step: 'ADD', passwordKeys: fresh, copyFrom }, { reason: 'UserAdded', message });
  }
  const gone = held.filter((key) => extraUserOf(key) !== undefined && !wanted.includes(key));
  const servers = readServers(view);
  const stillThere = servers.some((server) => server.users === undefined || findGoners(view, server).length > 0);
  if (gone.length === 0 || stillThere) return undefined;
  return forgetUsers(view, credentials, gone);
};

const forgetUsers = (view: ClusterView, credentials: CredentialsView, gone: readonly string[]): RuleOutcome => {
  const reason = 'UserRemoved';
  const message = `Forgetting users ${gone.map(extraUserOf).join(', ')}, which no server lets in any more.`;
  const secrets = gone.flatMap((key) => {
    const secret = findChild(view.snapshot, 'Secret', userSecretName(view.key.name, extraUserOf(key) ?? ''));
    // One without our label would be refused, for ever.
    return secret?.metadata.labels?.[LABEL.dataSet] === view.names.hash ? [secret] : [];
  });
  const deletions = secrets.map((secret): Action => ({
    kind: 'DeleteChild',
    apiVersion: 'v1',
    objectKind: 'Secret',
    key: { namespace: view.key.namespace, name: secret.metadata.name },
    uid: secret.metadata.uid ?? '',
    reason,
    message,
    disruptive: false,
  }));
  const outcome = write(view, credentials, { step: 'REMOVE_USERS', passwordKeys: gone }, { reason, message });
  return { ...outcome, actions: [...deletions, ...(outcome.actions ?? [])] };
};

const sourcesOf = ({ spec }: ClusterView): Readonly<Record<string, { readonly name: string; readonly key: string }>> =>
  Object.fromEntries(copySources(spec).map(({ passwordKey, name, key }) => [passwordKey, { name, key }]));

const startRotation = (context: RuleContext, credentials: CredentialsView): RuleOutcome | undefined => {
  const { view } = context;
  const { copies = {} } = view.snapshot;
  const sources = sourcesOf(view);
  const changed = Object.keys(sources).filter((key) => copies[key] === 'DIFFERENT' && credentials.held.includes(key));
  const asked = rotationAsked(view);
  if (changed.length === 0 && asked === undefined) return explainCopies(view);
  const laggard = findLaggard(view, credentials) ?? findUnlinked(context);
  if (laggard !== undefined) return hold('RotationWaiting', `A rotation of passwords waits: ${laggard}.`);
  const named = asked?.users?.flatMap((user) => [user, extraUserKey(user)]);
  const own =
    asked === undefined ? [] : ownKeys(view).filter((key) => credentials.held.includes(key) && isNamed(key, named));
  const annotations = {
    [CREDENTIALS_ANNOTATION.version]: String(credentials.version + 1),
    ...(asked === undefined ? {} : { [CREDENTIALS_ANNOTATION.rotatedFor]: asked.uid }),
  };
  const passwordKeys = [...changed, ...own];
  const copyFrom = Object.fromEntries(Object.entries(sources).filter(([key]) => changed.includes(key)));
  const message = `New passwords of ${passwordKeys.map((key) => extraUserOf(key) ?? key).join(', ')} are made beside the old ones.`;
  return withFinding(
    write(
      view,
      credentials,
      { step: 'ADD', passwordKeys, copyFrom, annotations },
      { reason: 'RotationAdding', message },
    ),
  );
};

const isNamed = (key: string, named: readonly string[] | undefined): boolean =>
  named === undefined || named.includes(key);

const COPY_PROBLEM = {
  ABSENT: ['SecretAbsent', 'is not there'],
  NOT_ALLOWED: [
    'SecretNotAllowed',
    'lacks the label redis.atoll.dev/allow=true, without which nothing is copied from it',
  ],
  UNUSABLE: ['SecretUnusable', 'holds no usable password under its key: 1 to 512 printable characters'],
} as const;

/** A Secret of the user's that nothing can be copied from: the password stays as it is. */
export const explainCopies = (view: ClusterView): RuleOutcome | undefined => {
  const sources = sourcesOf(view);
  for (const [key, seen] of Object.entries(view.snapshot.copies ?? {})) {
    if (seen === 'SAME' || seen === 'DIFFERENT') continue;
    const [reason, what] = COPY_PROBLEM[seen];
    const user = extraUserOf(key) ?? key;
    return hold(
      reason,
      `Secret ${sources[key]?.name ?? ''} ${what}; the password of user ${user} is not taken from it.`,
    );
  }
  return undefined;
};
