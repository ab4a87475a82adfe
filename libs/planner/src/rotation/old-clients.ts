/**
 * Clients that may know only the password before the current one. They hold the end of a rotation for as long as they
 * stay connected, since taking the password away would shut them out when they come back: so they are named, after a day
 * a person is asked, and a Consent ends it at once. Invariant: without a person nothing is taken away that they need.
 */
import { ownValue } from '#domain';
import { CREDENTIALS_ANNOTATION } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { consentGiven } from '../operations/consent-given.ts';
import { endRotationHash, isClientKey, listOldClients } from '../read-credentials.ts';
import type { CredentialsView } from '../read-credentials.ts';
import { askPerson } from '../rule.ts';
import type { RuleOutcome } from '../rule.ts';
import { hold, namesOf, withFinding, write } from './write-step.ts';

/** By then somebody has to do something; until then clients may well be restarted in the course of things. */
const OLD_IN_USE_ASKS_AFTER_MS = 24 * 3_600_000;

/** `waitedMs` since the grace period ended. */
export const tellOldInUse = (view: ClusterView, credentials: CredentialsView, waitedMs: number): RuleOutcome => {
  const clients = listOldClients(view, credentials).slice(0, 5).join(', ');
  const message =
    `Clients are still connected since before the new password was published, and may know only the old one: ${clients}. ` +
    'It stays valid until they have gone: restart them. To end it now, and shut out whoever has not read the new one, ' +
    `make a RedisOperation Consent with planHash ${endRotationHash(credentials)}.`;
  const held = hold('OldPasswordInUse', message);
  if (waitedMs < OLD_IN_USE_ASKS_AFTER_MS) return held;
  return { ...held, findings: [...(held.findings ?? []), ...(askPerson(held.reason, message).findings ?? [])] };
};

/**
 * A person ends it now, for instance since the old password is in wrong hands: those of clients go at once, whatever is
 * connected and whoever does not answer. Replication and Sentinels keep theirs until it is shown that they need it no more.
 */
export const withdraw = (view: ClusterView, credentials: CredentialsView): RuleOutcome | undefined => {
  const passwordKeys = credentials.previous.filter(isClientKey);
  if (passwordKeys.length === 0 || !consentGiven(view, endRotationHash(credentials))) return undefined;
  const { connectionOutdated, userConnections = {} } = view.snapshot;
  if (connectionOutdated === true || passwordKeys.some((key) => ownValue(userConnections, key) === 'OUTDATED')) {
    return hold('RotationPublishing', 'The new passwords are being published for clients; then the old ones go.');
  }
  const isAll = passwordKeys.length === credentials.previous.length;
  const annotations = isAll ? { [CREDENTIALS_ANNOTATION.publishedAt]: '' } : {};
  const message = `By consent the old passwords of ${namesOf(passwordKeys)} are taken away now.`;
  return withFinding(
    write(
      view,
      credentials,
      { step: 'REMOVE_PREVIOUS', passwordKeys, annotations },
      { reason: 'RotationEndedByConsent', message },
    ),
  );
};
