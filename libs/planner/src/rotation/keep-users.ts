/**
 * Passwords of new users of the spec, and the end of removed ones, whatever rotation is on: a new user must not wait for
 * somebody else's old client. Invariant: a removed user is forgotten only when no server lets it in any more, and of its
 * Secret nothing is deleted that is not ours.
 */
import { LABEL, ownValue } from '#domain';
import type { Action } from '#domain';
import { extraUserKey, extraUserOf, userSecretName } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { findGoners, readServers } from '../read-credentials.ts';
import type { CredentialsView } from '../read-credentials.ts';
import type { RuleOutcome } from '../rule.ts';
import { sourcesOf } from './follow-sources.ts';
import { write } from './write-step.ts';

/** Passwords of new users, and the end of removed ones: no rotation, since nobody knows another password of theirs. */
export const keepUsers = (view: ClusterView, credentials: CredentialsView): RuleOutcome | undefined => {
  const { held } = credentials;
  const wanted = view.spec.auth.users.map(({ name }) => extraUserKey(name));
  const sources = sourcesOf(view);
  const fresh = wanted.filter(
    (key) =>
      !held.includes(key) &&
      (ownValue(sources, key) === undefined || ownValue(view.snapshot.copies, key) === 'DIFFERENT'),
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
