import { resourceOf } from '#kube';
import { assertOurs } from './assert-ours.ts';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';

/** Server-side apply with force: a child belongs to the operator alone, so an edit by hand is taken back (04). */
export const executeApplyChild: Executor<'ApplyChild'> = async ({ object }, context) => {
  await assertOurs(context, resourceOf(object), object.metadata.name);
  context.assertMayWrite();
  await context.client.apply(object, { ...WRITE, force: true });
};
