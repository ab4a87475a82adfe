/** A password out of a Secret of the user's: only where its label allows it, or a RedisCluster could read any Secret. */
import { LABEL, ownValue } from '#domain';
import { RESOURCE } from '#kube';
import { usablePassword } from '#manifests';
import { RefusedError } from './execution-context.ts';
import type { ExecutionContext } from './execution-context.ts';
import { decodeSecret } from './read-credentials.ts';

export const copyPassword = async (
  { name, key }: { readonly name: string; readonly key: string },
  { client, namespace, forgetSecret }: ExecutionContext,
): Promise<string> => {
  // The next pass compares with what was copied, not with what was kept from before.
  forgetSecret(name);
  const secret = await client.find(RESOURCE.secret, { namespace, name });
  if (secret === undefined) throw new RefusedError('SECRET_ABSENT', `There is no Secret ${name}.`);
  if (secret.metadata.labels?.[LABEL.allow] !== 'true') {
    throw new RefusedError('SECRET_NOT_ALLOWED', `Secret ${name} lacks the label ${LABEL.allow}=true.`);
  }
  const password = usablePassword(ownValue(decodeSecret(secret), key));
  if (password === undefined) {
    throw new RefusedError('SECRET_UNUSABLE', `Key ${key} of Secret ${name} holds no usable password.`);
  }
  return password;
};
