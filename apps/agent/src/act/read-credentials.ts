/** The credentials Secret as it is now on the server, decoded. What is read here goes to servers and Secrets only. */
import { ownValue } from '#domain';
import type { KubeObject } from '#domain';
import { RESOURCE } from '#kube';
import { RefusedError } from './execution-context.ts';
import type { ExecutionContext } from './execution-context.ts';

export interface Credentials {
  readonly object: KubeObject;
  readonly values: Readonly<Record<string, string>>;
}

export const decodeSecret = (object: KubeObject): Record<string, string> => {
  const data = (object['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
};

export const readCredentials = async ({ client, names, namespace }: ExecutionContext): Promise<Credentials> => {
  const name = names.credentialsSecret;
  const object = await client.find(RESOURCE.secret, { namespace, name });
  if (object === undefined) throw new RefusedError('NO_CREDENTIALS', `Secret ${name} is not there yet.`);
  return { object, values: decodeSecret(object) };
};

export const requirePassword = ({ object, values }: Credentials, key: string): string => {
  const password = ownValue(values, key);
  if (password !== undefined && password !== '') return password;
  throw new RefusedError('NO_CREDENTIALS', `Secret ${object.metadata.name} has no key ${key}.`);
};
