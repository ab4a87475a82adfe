/**
 * Field ownership of the fake API server: enough of server-side apply for maps and scalars. Lists are atomic, except
 * metadata.finalizers, which is a set; identity and server-set metadata are owned by nobody, as in Kubernetes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ManagedFieldsEntry } from '#domain';

export type Plain = Record<string, unknown>;
/** JSON text of a path (`["spec","size"]`) to the value there; a set's item has its value as last step. */
export type Leaves = Map<string, unknown>;

export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
}
/** Leaves by manager; the key is JSON of Manager. */
export type Ownership = Map<string, Set<string>>;

export const managerKey = (manager: Manager): string => JSON.stringify(manager);

/** Metadata that is the server's or the object's identity. */
const UNOWNED = new Set([
  ...['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields'],
]);
const SET_PREFIX = 'v:';

export const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function leavesOf(object: KubeObject): Leaves {
  const leaves: Leaves = new Map();
  for (const [name, value] of Object.entries(object)) {
    if (name === 'apiVersion' || name === 'kind') continue;
    collect(value, [name], leaves);
  }
  return leaves;
}

function collect(value: unknown, path: readonly string[], leaves: Leaves): void {
  const metadataField = path.length === 2 && path[0] === 'metadata' ? path[1] : undefined;
  if (metadataField !== undefined && UNOWNED.has(metadataField)) return;
  if (metadataField === 'finalizers') collectSet(value, path, leaves);
  else if (isPlain(value) && Object.keys(value).length > 0) {
    for (const [key, child] of Object.entries(value)) collect(child, [...path, key], leaves);
  } else if (path.length > 1) leaves.set(JSON.stringify(path), value);
}

function collectSet(items: unknown, path: readonly string[], leaves: Leaves): void {
  if (!Array.isArray(items)) return;
  for (const item of items) leaves.set(JSON.stringify([...path, `${SET_PREFIX}${JSON.stringify(item)}`]), item);
}

/** Writes one leaf into an object, making the maps on the way. */
export function setLeaf(object: Plain, pathText: string, value: unknown): void {
  const path = JSON.parse(pathText) as string[];
  const last = path.pop() ?? '';
  if (last.startsWith(SET_PREFIX)) {
    const name = path.pop() ?? '';
    const holder = descend(object, path);
    const items = (holder[name] as unknown[] | undefined) ?? [];
    if (!items.some((item) => isDeepStrictEqual(item, value))) holder[name] = [...items, value];
    return;
  }
  descend(object, path)[last] = structuredClone(value);
}

export function removeLeaf(object: Plain, pathText: string): void {
  const path = JSON.parse(pathText) as string[];
  const last = path.pop() ?? '';
  if (last.startsWith(SET_PREFIX)) {
    const name = path.pop() ?? '';
    const holder = descend(object, path);
    const item: unknown = JSON.parse(last.slice(SET_PREFIX.length));
    const items = ((holder[name] as unknown[] | undefined) ?? []).filter((live) => !isDeepStrictEqual(live, item));
    if (items.length === 0) delete holder[name];
    else holder[name] = items;
    return;
  }
  delete descend(object, path)[last];
}

function descend(object: Plain, path: readonly string[]): Plain {
  let holder = object;
  for (const step of path) {
    if (!isPlain(holder[step])) holder[step] = {};
    holder = holder[step] as Plain;
  }
  return holder;
}

/** `.spec.size`, as Kubernetes names a contested field. */
export const formatLeafPath = (pathText: string): string =>
  (JSON.parse(pathText) as string[])
    .map((step) => (step.startsWith(SET_PREFIX) ? `[=${step.slice(SET_PREFIX.length)}]` : `.${step}`))
    .join('');

/** The ownership as metadata.managedFields. */
export function renderManagedFields(ownership: Ownership, apiVersion: string): ManagedFieldsEntry[] {
  return [...ownership]
    .filter(([, paths]) => paths.size > 0)
    .map(([key, paths]) => {
      const { subresource, ...manager } = JSON.parse(key) as Manager;
      const fieldsV1 = renderFields(paths);
      return { ...manager, apiVersion, fieldsType: 'FieldsV1', fieldsV1, ...(subresource !== '' && { subresource }) };
    });
}

function renderFields(paths: ReadonlySet<string>): Plain {
  const fields: Plain = {};
  for (const text of paths) {
    const steps = (JSON.parse(text) as string[]).map((step) => (step.startsWith(SET_PREFIX) ? step : `f:${step}`));
    descend(fields, steps);
  }
  return fields;
}
