/**
 * Makes the Secret <name>-<hash>-credentials. Created, never applied: whatever is there already are the passwords that running
 * pods and clients use, and writing over them would lock everybody out. Passwords exist only in this call and in the
 * Secret.
 */
import { RESOURCE, isKubeError } from '#kube';
import { CREDENTIAL_USERS, hasAllCredentials, renderCredentials } from '#manifests';
import type { CredentialUser } from '#manifests';
import type { ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';
import { copyPassword } from './copy-password.ts';
import { makePassword } from './make-password.ts';

export const executeCreateCredentials: Executor<'CreateCredentials'> = async ({ key, copyFrom = {} }, context) => {
  const { client, owner, assertMayWrite, forgetSecret } = context;
  const passwords: Record<string, string> = {};
  for (const user of CREDENTIAL_USERS) {
    const source = copyFrom[user];
    passwords[user] = source === undefined ? makePassword() : await copyPassword(source, context);
  }
  const secret = renderCredentials(owner, key.name, passwords as Record<CredentialUser, string>);
  assertMayWrite();
  try {
    await client.create(secret, WRITE);
  } catch (error) {
    if (!isKubeError(error) || !error.isAlreadyExists()) throw error;
    await assertComplete(context, key.name);
  } finally {
    forgetSecret(key.name);
  }
};

const assertComplete = async ({ client, namespace }: ExecutionContext, name: string): Promise<void> => {
  const live = await client.find(RESOURCE.secret, { namespace, name });
  const keys = Object.keys(live?.['data'] ?? {});
  if (live !== undefined && !hasAllCredentials(keys)) {
    throw new RefusedError(
      'CREDENTIALS_INCOMPLETE',
      `Secret ${name} exists but lacks a key for one of the users ${CREDENTIAL_USERS.join(', ')}. ` +
        'It is never written over: add the key, or delete the Secret if nothing uses it.',
    );
  }
};
