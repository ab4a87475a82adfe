/**
 * Server-side apply with force: a child belongs to the operator alone, so an edit by hand is taken back (04). An apply
 * leaves alone what another manager added to a keyed list (a container's env, a Service's ports) and would be repeated
 * for ever; such a list is then replaced by ours. Without it the object never settles, and new pods carry the edit.
 */
import { resourceOf } from '#kube';
import { diffObject } from '#manifests';
import { assertOurs } from './assert-ours.ts';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';

export const executeApplyChild: Executor<'ApplyChild'> = async ({ object }, context) => {
  const { client, assertMayWrite } = context;
  const { name, namespace } = object.metadata;
  const resource = resourceOf(object);
  await assertOurs(context, resource, name);
  assertMayWrite();
  const applied = await client.apply(object, { ...WRITE, force: true });
  if (diffObject(object, applied) === undefined) return;
  const { resourceVersion, uid } = applied.metadata;
  const body = { ...object, metadata: { ...object.metadata, resourceVersion, uid } };
  assertMayWrite();
  await client.patchMerge(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, body, WRITE);
};
