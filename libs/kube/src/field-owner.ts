/**
 * Who owns which field, read from metadata.managedFields (FieldsV1). Only leaves are told: a manager that owns
 * `spec.config` by owning one key of it does not own the others. Source: kubernetes.io "Server-Side Apply", FieldsV1:
 * `f:NAME` a field, `k:JSON` a list item by key, `v:JSON` a set's value, `i:N` a list index, `.` the thing itself.
 */
import type { ManagedFieldsEntry } from '#domain';
import { formatKey, formatValue } from './field-path.ts';

export interface FieldOwner {
  /** From the object's root, as in apply conflicts: `spec.size`, `spec.config.maxmemory-policy`. See valueAtPath. */
  readonly path: string;
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** `status` and the like; undefined for the object itself. */
  readonly subresource?: string;
}

/** Owners of the leaves at or under `prefix` (whole steps: `spec` does not match `specs`), in the order of the entries. */
export function fieldOwners(entries: readonly ManagedFieldsEntry[] | undefined, prefix: string): FieldOwner[] {
  return (entries ?? []).flatMap((entry) => {
    const owner = {
      manager: entry.manager ?? '',
      operation: entry.operation === 'Apply' ? ('Apply' as const) : ('Update' as const),
      ...(entry.subresource && { subresource: entry.subresource }),
    };
    return leavesOf(entry.fieldsV1, '')
      .filter((path) => isUnder(path, prefix))
      .map((path) => ({ path, ...owner }));
  });
}

const isUnder = (path: string, prefix: string): boolean =>
  prefix === '' || path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`);

function leavesOf(fields: unknown, path: string): string[] {
  const steps =
    typeof fields === 'object' && fields !== null ? Object.entries(fields).filter(([key]) => key !== '.') : [];
  if (steps.length === 0) return path === '' ? [] : [path];
  return steps.flatMap(([key, child]) => leavesOf(child, path + stepText(key, path === '')));
}

function stepText(key: string, isRoot: boolean): string {
  const rest = key.slice(2);
  switch (key.slice(0, 2)) {
    case 'f:':
      return isRoot ? rest : `.${rest}`;
    case 'k:':
      return formatKey(parse(rest) as Readonly<Record<string, unknown>>);
    case 'v:':
      return formatValue(parse(rest));
    default:
      return `[${rest}]`;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
