/** What one Sentinel logs in with at data pods and at its peers, to the password that is current. */
import { SENTINEL_USER } from '#manifests';
import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';
import { readCredentials, requirePassword } from './read-credentials.ts';

export const executeSetSentinelLogin: Executor<'SetSentinelLogin'> = async ({ sentinelPod, masterName }, context) => {
  const link = requireLink(context.findSentinel(sentinelPod), sentinelPod);
  const password = requirePassword(await readCredentials(context), SENTINEL_USER);
  context.assertMayWrite();
  throwIfRefused(await link.setLogin(masterName, { username: SENTINEL_USER, password }));
};
