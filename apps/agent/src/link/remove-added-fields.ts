/**
 * Fields a person added that the hub wants gone: server-side apply only ever takes away what its own manager owns, so
 * the object is written back without them, with the resourceVersion that was looked at as the precondition.
 */
import { FIELD_MANAGER } from '#domain';
import type { KubeObject } from '#domain';
import { valueAtPath, withoutPaths } from '#kube';
import type { Upsert } from '#protocol';
import type { Spec } from './decide-upsert.ts';
import { isAtOrUnder } from './is-at-or-under.ts';
import { listForeignFields } from './list-foreign-fields.ts';
import type { MemberApi } from './member-api.ts';

/** The decision with the object as it is after the removal. */
export async function removeAddedFields<D extends { readonly live: KubeObject; readonly spec: Spec }>(
  api: MemberApi,
  upsert: Upsert,
  decision: D,
): Promise<D> {
  const { live, spec } = decision;
  const isMeant = (path: string): boolean =>
    upsert.driftPolicy === 'Revert' || (upsert.revertFields ?? []).some((field) => isAtOrUnder(path, field));
  const added = listForeignFields(live)
    .map((field) => field.path)
    .filter((path) => isMeant(path) && valueAtPath({ spec }, path) === undefined);
  if (added.length === 0) return decision;
  return { ...decision, live: await api.replace(withoutPaths(live, added), { fieldManager: FIELD_MANAGER.link }) };
}
