/**
 * Spec fields of a pushed object that somebody else has taken over, from metadata.managedFields. The link's own apply is
 * what the hub wrote; whoever changes a value takes it away from the link, so a field that others own and the link does
 * not is a person's or a tool's edit. Fields owned by both hold the hub's value and are no drift.
 */
import { FIELD_MANAGER } from '#domain';
import type { KubeObject } from '#domain';
import { fieldOwners, valueAtPath } from '#kube';
import type { ForeignField } from '#protocol';
import { isAtOrUnder } from './is-at-or-under.ts';

/** In the order of their paths; one entry a path, the first manager of several. */
export function listForeignFields(object: KubeObject): readonly ForeignField[] {
  const owners = fieldOwners(object.metadata.managedFields, 'spec');
  const ours = new Set(owners.filter((owner) => owner.manager === FIELD_MANAGER.link).map((owner) => owner.path));
  const foreign = new Map<string, ForeignField>();
  for (const { path, manager } of owners) {
    if (ours.has(path) || manager === FIELD_MANAGER.link || foreign.has(path) || path === 'spec') continue;
    foreign.set(path, foreignField(object, path, manager));
  }
  return [...foreign.values()]
    .filter((field) => !isContainer(field, owners))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Managers own the containers of their fields too (`spec.config` beside `spec.config.maxmemory`); those are no edits. */
const isContainer = (field: ForeignField, owners: readonly { readonly path: string }[]): boolean =>
  owners.some((owner) => owner.path !== field.path && isAtOrUnder(owner.path, field.path));

export function foreignField(object: KubeObject, path: string, manager: string): ForeignField {
  const live = valueAtPath(object, path);
  return { path, manager, ...(live === undefined ? {} : { liveValue: JSON.stringify(live) }) };
}
