/**
 * One step of the credentials Secret, in one write under the resourceVersion that was planned for: whoever was faster,
 * the next pass sees what is true. Invariant: no step takes away a password that a server or a client may still need as
 * the only one it knows. Passwords exist in this call and in the Secret.
 */
import { LABEL, ownValue, setOwnValue } from '#domain';
import { RESOURCE } from '#kube';
import { nextPasswordKey, previousPasswordKey } from '#manifests';
import type { ActionOf, ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';
import { copyPassword } from './copy-password.ts';
import { makePassword } from './make-password.ts';
import { readCredentials } from './read-credentials.ts';
import type { Credentials } from './read-credentials.ts';

type Step = ActionOf<'WriteCredentials'>;
/** By key; null takes one away. */
type Change = Record<string, string | null>;

export const executeWriteCredentials: Executor<'WriteCredentials'> = async (action, context) => {
  const credentials = await readCredentials(context);
  assertAsPlanned(action, credentials, context);
  const change = await changeOf(action, credentials, context);
  const data = Object.fromEntries(
    Object.entries(change).map(([key, value]) => [
      key,
      value === null ? null : Buffer.from(value, 'utf8').toString('base64'),
    ]),
  );
  const annotations = Object.fromEntries(
    Object.entries(action.annotations).map(([key, value]) => [key, value === '' ? null : value]),
  );
  const { resourceVersion, uid } = credentials.object.metadata;
  const { namespace, name } = action.key;
  context.assertMayWrite();
  try {
    const metadata = { resourceVersion, uid, annotations };
    await context.client.patchMerge(RESOURCE.secret, { namespace, name }, { metadata, data }, WRITE);
  } finally {
    context.forgetSecret(name);
  }
};

const assertAsPlanned = (action: Step, { object }: Credentials, { owner }: ExecutionContext): void => {
  if (object.metadata.labels?.[LABEL.dataSet] !== owner.dataSetHash) {
    throw new RefusedError('NOT_OURS', `Secret ${object.metadata.name} is not labelled as of this data set.`);
  }
  if (object.metadata.resourceVersion !== action.resourceVersion) {
    throw new RefusedError('CHANGED', `Secret ${object.metadata.name} has changed since it was looked at.`);
  }
};

const changeOf = async (action: Step, credentials: Credentials, context: ExecutionContext): Promise<Change> => {
  switch (action.step) {
    case 'ADD':
      return addPasswords(action, credentials, context);
    case 'SWITCH':
      return Object.assign({}, ...action.passwordKeys.map((key) => switchOver(key, credentials.values))) as Change;
    case 'PUBLISHED':
      return {};
    case 'REMOVE_PREVIOUS':
      return removal(action.passwordKeys.map(previousPasswordKey));
    case 'REMOVE_USERS':
      return removal(action.passwordKeys.flatMap((key) => [key, nextPasswordKey(key), previousPasswordKey(key)]));
  }
};

const removal = (keys: readonly string[]): Change => Object.fromEntries(keys.map((key) => [key, null]));

const addPasswords = async (
  { passwordKeys, copyFrom = {} }: Step,
  { values }: Credentials,
  context: ExecutionContext,
): Promise<Change> => {
  const change: Change = {};
  for (const key of passwordKeys) {
    const source = ownValue(copyFrom, key);
    const password = source === undefined ? makePassword() : await copyPassword(source, context);
    if (ownValue(values, key) === password) continue;
    setOwnValue(change, ownValue(values, key) === undefined ? key : nextPasswordKey(key), password);
  }
  return change;
};

const switchOver = (key: string, values: Credentials['values']): Change => {
  const next = ownValue(values, nextPasswordKey(key));
  if (next === undefined) return {};
  return { [previousPasswordKey(key)]: ownValue(values, key) ?? null, [key]: next, [nextPasswordKey(key)]: null };
};
