/**
 * Rotation of passwords with two valid ones all along, each step read from the credentials Secret and from the servers:
 * a coming password is written beside the current one → every server accepts both → it becomes current → replicas and
 * Sentinels log in with it, clients are told → the grace period, and no client connection older than that → the one
 * before goes. Invariant: the current password is accepted by every server at any time; nothing is taken away that
 * somebody who was told no better still needs, unless a person consents. One rotation at a time; but new users, and what a
 * user's own Secret says now, do not wait for the end of one: a coming password is accepted beside the two. Without the
 * wait for every server a replica that was away would be locked out for good.
 */
import { APPLICATION_USER, CREDENTIALS_ANNOTATION, extraUserKey, userSecretName } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { rotationAsked } from '../operations/rotation-asked.ts';
import { findLaggard, isOldInUse, ownKeys, readCredentials } from '../read-credentials.ts';
import type { CredentialsView } from '../read-credentials.ts';
import { explainCopies, findChanged, followSources, sourcesOf } from '../rotation/follow-sources.ts';
import { keepUsers } from '../rotation/keep-users.ts';
import { tellOldInUse, withdraw } from '../rotation/old-clients.ts';
import { hold, namesOf, withFinding, write } from '../rotation/write-step.ts';
import type { Rule, RuleContext, RuleOutcome } from '../rule.ts';

export const rotateCredentials: Rule = {
  name: 'rotate-credentials',
  decide: (context) => {
    const { view } = context;
    const credentials = readCredentials(view);
    if (credentials === undefined || !view.specUsable || !view.snapshot.credentialsPresent) return undefined;
    return keepUsers(view, credentials) ?? followSources(view, credentials) ?? turnOn(context, credentials);
  },
};

/** The one before goes before another becomes it: of a user three passwords are valid at most. */
const turnOn = (context: RuleContext, credentials: CredentialsView): RuleOutcome | undefined => {
  if (credentials.previous.length > 0) return withdraw(context.view, credentials) ?? endRotation(context, credentials);
  if (credentials.next.length > 0) return switchOver(context, credentials);
  return startRotation(context, credentials);
};

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
  if (isOldInUse(view, credentials)) return tellOldInUse(view, credentials, nowMs - untilMs);
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

const startRotation = (context: RuleContext, credentials: CredentialsView): RuleOutcome | undefined => {
  const { view } = context;
  const sources = sourcesOf(view);
  const changed = findChanged(view, credentials);
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
  const message = `New passwords of ${namesOf(passwordKeys)} are made beside the old ones.`;
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
