import { MAX_REDIS_CLUSTER_NAME_LENGTH, type UserError } from '#domain';

const DNS_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** A Service carries the name, so it begins with a letter. */
const SERVICE_LABEL = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
/** The Services of another RedisCluster are called so. */
const RESERVED_ENDING = /-(replicas|sentinel)$/;
const MAX_NAMESPACE_LENGTH = 63;

/** What is wrong with the place of a new RedisCluster, as the CRD would say it later; empty when nothing. */
export function checkNames(input: { readonly namespace: string; readonly name: string }): readonly UserError[] {
  const errors: UserError[] = [];
  const add = (field: string, message: string): void => {
    errors.push({ code: 'INVALID_INPUT', message, field: ['input', field], retryable: false });
  };
  const { name, namespace } = input;
  if (!SERVICE_LABEL.test(name) || name.length > MAX_REDIS_CLUSTER_NAME_LENGTH) {
    add('name', `A name has at most ${MAX_REDIS_CLUSTER_NAME_LENGTH} of a-z, 0-9 and -, and begins with a letter.`);
  }
  if (RESERVED_ENDING.test(name)) add('name', 'A name may not end in -replicas or -sentinel.');
  if (!DNS_LABEL.test(namespace) || namespace.length > MAX_NAMESPACE_LENGTH) {
    add('namespace', `A namespace has at most ${MAX_NAMESPACE_LENGTH} of a-z, 0-9 and -.`);
  }
  return errors;
}
