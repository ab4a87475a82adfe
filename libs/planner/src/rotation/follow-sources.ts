/**
 * Passwords that are copied from Secrets of the user's: which of those say another one than the current and the coming
 * one, and which nothing can be copied from. One that changes while a rotation is on is added beside the two that are
 * valid then, and follows it: else a second change would be accepted nowhere until the last old client has gone.
 */
import { ownValue } from '#domain';
import { CREDENTIALS_ANNOTATION, copySources, extraUserOf } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import type { CredentialsView } from '../read-credentials.ts';
import type { RuleOutcome } from '../rule.ts';
import type { CredentialsChange } from './write-step.ts';
import { hold, namesOf, withFinding, write } from './write-step.ts';

export const sourcesOf = ({
  spec,
}: ClusterView): Readonly<Record<string, { readonly name: string; readonly key: string }>> =>
  Object.fromEntries(copySources(spec).map(({ passwordKey, name, key }) => [passwordKey, { name, key }]));

/** While a rotation is on: a Secret of the user's that says another password than the current and the coming one. */
export const followSources = (view: ClusterView, credentials: CredentialsView): RuleOutcome | undefined => {
  if (credentials.next.length + credentials.previous.length === 0) return undefined;
  const changed = findChanged(view, credentials);
  if (changed.length === 0) return undefined;
  return addCopied(view, credentials, changed);
};

export const findChanged = (view: ClusterView, { held }: CredentialsView): readonly string[] =>
  Object.keys(sourcesOf(view)).filter(
    (key) => ownValue(view.snapshot.copies, key) === 'DIFFERENT' && held.includes(key),
  );

const addCopied = (view: ClusterView, credentials: CredentialsView, passwordKeys: readonly string[]): RuleOutcome => {
  const copyFrom = Object.fromEntries(Object.entries(sourcesOf(view)).filter(([key]) => passwordKeys.includes(key)));
  const annotations = { [CREDENTIALS_ANNOTATION.version]: String(credentials.version + 1) };
  const message = `The new password of ${namesOf(passwordKeys)}, from a Secret that changed again, is added beside the others.`;
  const what: CredentialsChange = { step: 'ADD', passwordKeys, copyFrom, annotations };
  return withFinding(write(view, credentials, what, { reason: 'RotationAdding', message }));
};

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
    if (seen === 'SAME' || seen === 'NEXT' || seen === 'DIFFERENT') continue;
    const [reason, what] = COPY_PROBLEM[seen];
    const user = extraUserOf(key) ?? key;
    return hold(
      reason,
      `Secret ${ownValue(sources, key)?.name ?? ''} ${what}; the password of user ${user} is not taken from it.`,
    );
  }
  return undefined;
};
