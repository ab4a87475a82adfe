/** Publishes Secret <name>-connection for clients: the planned fields and the application's password of the moment. */
import { RESOURCE } from '#kube';
import { APPLICATION_USER, renderConnection } from '#manifests';
import { assertOurs } from './assert-ours.ts';
import type { Executor } from './execution-context.ts';
import { RefusedError, WRITE } from './execution-context.ts';

export const executePublishConnection: Executor<'PublishConnection'> = async (action, context) => {
  const { client, owner, names, namespace, assertMayWrite, forgetSecret } = context;
  const name = names.credentialsSecret;
  const credentials = await client.find(RESOURCE.secret, { namespace, name });
  const encoded = ((credentials?.['data'] ?? {}) as Record<string, string>)[APPLICATION_USER];
  if (encoded === undefined) throw new RefusedError('NO_CREDENTIALS', `Secret ${name} is not there yet.`);
  const password = Buffer.from(encoded, 'base64').toString('utf8');
  await assertOurs(context, RESOURCE.secret, action.key.name);
  assertMayWrite();
  await client.apply(renderConnection(owner, action.key.name, action.fields, password), {
    ...WRITE,
    force: true,
  });
  // Both: the next pass compares them, and one of them may be kept from before.
  forgetSecret(action.key.name);
  forgetSecret(name);
};
