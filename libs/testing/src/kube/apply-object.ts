/**
 * What a write does to an object and to the ownership of its fields. Apply: the caller's leaves are set, those it owned
 * and no longer names go, a leaf of another manager with another value is a conflict unless forced. Update: whatever
 * changed belongs to the caller from now on.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#domain';
import {
  formatLeafPath,
  type Leaves,
  leavesOf,
  type Manager,
  managerKey,
  type Ownership,
  type Plain,
  removeLeaf,
  setLeaf,
} from './field-ownership.ts';
import { StatusError } from './status-error.ts';

/** Changes `object` and `ownership` in place. Throws the conflict. */
export function applyLeaves(
  object: Plain,
  ownership: Ownership,
  wanted: Leaves,
  by: { readonly manager: Manager; readonly force: boolean },
): void {
  const ownKey = managerKey(by.manager);
  const live = leavesOf(object as KubeObject);
  const contested = findContested(live, ownership, wanted, ownKey);
  if (contested.length > 0 && !by.force) throw conflict(contested);
  for (const { key, path } of contested) ownership.get(key)?.delete(path);
  const ownedByOthers = new Set([...ownership].filter(([key]) => key !== ownKey).flatMap(([, paths]) => [...paths]));
  for (const path of ownership.get(ownKey) ?? []) {
    if (!wanted.has(path) && !ownedByOthers.has(path)) removeLeaf(object, path);
  }
  for (const [path, value] of wanted) setLeaf(object, path, value);
  ownership.set(ownKey, new Set(wanted.keys()));
}

interface Contested {
  readonly key: string;
  readonly path: string;
}

function findContested(live: Leaves, ownership: Ownership, wanted: Leaves, ownKey: string): Contested[] {
  return [...ownership].flatMap(([key, paths]) =>
    key === ownKey
      ? []
      : [...paths]
          .filter((path) => wanted.has(path) && live.has(path) && !isDeepStrictEqual(wanted.get(path), live.get(path)))
          .map((path) => ({ key, path })),
  );
}

function conflict(contested: readonly Contested[]): StatusError {
  const causes = contested.map(({ key, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${JSON.stringify((JSON.parse(key) as Manager).manager)}`,
    field: formatLeafPath(path),
  }));
  const text = causes.map((cause) => `${cause.message}: ${cause.field}`).join(', ');
  return new StatusError(409, 'Conflict', `Apply failed with ${causes.length} conflict(s): ${text}`, causes);
}

/** Books an update from `before` to `after`: changed leaves go to `manager`, removed ones to nobody. */
export function bookUpdate(before: Leaves, after: Leaves, ownership: Ownership, manager: Manager): void {
  const changed = [...after.keys()].filter((path) => !isDeepStrictEqual(before.get(path), after.get(path)));
  for (const [, paths] of ownership) {
    for (const path of [...paths]) if (!after.has(path)) paths.delete(path);
    for (const path of changed) paths.delete(path);
  }
  if (changed.length === 0) return;
  const key = managerKey(manager);
  ownership.set(key, new Set([...(ownership.get(key) ?? []), ...changed]));
}
