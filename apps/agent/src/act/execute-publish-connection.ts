/** Publishes a Secret for clients: the planned fields and the password of the moment of the user they speak of. */
import { RESOURCE } from '#kube';
import { APPLICATION_USER, renderConnection } from '#manifests';
import { assertOurs } from './assert-ours.ts';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';
import { readCredentials, requirePassword } from './read-credentials.ts';

export const executePublishConnection: Executor<'PublishConnection'> = async (action, context) => {
  const { client, owner, names, assertMayWrite, forgetSecret } = context;
  const password = requirePassword(await readCredentials(context), action.passwordKey ?? APPLICATION_USER);
  await assertOurs(context, RESOURCE.secret, action.key.name);
  assertMayWrite();
  await client.apply(renderConnection(owner, action.key.name, action.fields, password), {
    ...WRITE,
    force: true,
  });
  // Both: the next pass compares them, and one of them may be kept from before.
  forgetSecret(action.key.name);
  forgetSecret(names.credentialsSecret);
};
