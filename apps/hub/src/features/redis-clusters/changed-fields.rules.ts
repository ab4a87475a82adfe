/** Which fields differ between two specs, as paths like `spec.config.maxmemory`; a whole branch that is missing is one path. */
import { ownValue } from '#domain';
import { canonicalJson } from '#protocol';

export function listChangedFields(before: unknown, after: unknown, path = 'spec'): readonly string[] {
  if (!isObject(before) || !isObject(after)) return isSame(before, after) ? [] : [path];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => listChangedFields(ownValue(before, name), ownValue(after, name), `${path}.${name}`));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSame = (a: unknown, b: unknown): boolean =>
  a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
