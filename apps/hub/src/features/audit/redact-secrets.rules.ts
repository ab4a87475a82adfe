/**
 * Takes out of an audit row whatever could be a secret, by the name of its field. The API takes no secrets at all
 * (agents make passwords), so this is the second lock: it keeps one that a user put into a wrong field out of a table
 * that is never deleted.
 */
const SECRET_NAME = /pass|secret|token|credential|private|masterauth|^auth$|acl|^user/i;
const REDACTED = '[redacted]';

export function redactSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, SECRET_NAME.test(name) ? REDACTED : redactSecrets(inner)]),
  );
}
