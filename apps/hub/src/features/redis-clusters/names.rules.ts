import { type UserError } from '#domain';

const DNS_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** A Service carries the name, so it begins with a letter. */
const SERVICE_LABEL = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
/** Names of children are longer, and none may pass 63 characters. */
const MAX_NAME_LENGTH = 40;
const MAX_NAMESPACE_LENGTH = 63;

/** What is wrong with the place of a new RedisCluster; empty when nothing. */
export function checkNames(input: { readonly namespace: string; readonly name: string }): readonly UserError[] {
  const errors: UserError[] = [];
  const add = (field: string, message: string): void => {
    errors.push({ code: 'INVALID_INPUT', message, field: ['input', field], retryable: false });
  };
  if (!SERVICE_LABEL.test(input.name) || input.name.length > MAX_NAME_LENGTH) {
    add(
      'name',
      `A name has at most ${MAX_NAME_LENGTH} lower-case letters, digits and dashes, and begins with a letter.`,
    );
  }
  if (!DNS_LABEL.test(input.namespace) || input.namespace.length > MAX_NAMESPACE_LENGTH) {
    add('namespace', `A namespace has at most ${MAX_NAMESPACE_LENGTH} lower-case letters, digits and dashes.`);
  }
  return errors;
}
