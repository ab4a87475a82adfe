/** masteruser and masterauth of one data pod, to the password that is current. */
import { REPLICATION_USER } from '#manifests';
import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';
import { readCredentials, requirePassword } from './read-credentials.ts';

export const executeSetReplicationLogin: Executor<'SetReplicationLogin'> = async ({ pod }, context) => {
  const link = requireLink(context.findRedis(pod), pod);
  const password = requirePassword(await readCredentials(context), REPLICATION_USER);
  context.assertMayWrite();
  throwIfRefused(await link.setReplicationLogin({ username: REPLICATION_USER, password }));
};
