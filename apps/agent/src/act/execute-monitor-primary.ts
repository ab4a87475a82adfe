/** Makes one Sentinel monitor the primary; its password for the data pods comes from the credentials Secret. */
import { SENTINEL_INFO_PERIOD_MS } from '#domain';
import { SENTINEL_USER } from '#manifests';
import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';
import { readCredentials, requirePassword } from './read-credentials.ts';

export const executeMonitorPrimary: Executor<'MonitorPrimary'> = async (action, context) => {
  const { masterName, primaryHost, primaryPort, quorum, settings } = action;
  const link = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  const password = requirePassword(await readCredentials(context), SENTINEL_USER);
  context.assertMayWrite();
  const auth = { username: SENTINEL_USER, password };
  throwIfRefused(await link.setInfoPeriod(SENTINEL_INFO_PERIOD_MS));
  context.assertMayWrite();
  throwIfRefused(await link.monitor({ masterName, primaryHost, primaryPort, quorum, settings, auth }));
};
