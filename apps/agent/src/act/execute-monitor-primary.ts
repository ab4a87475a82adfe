/** Makes one Sentinel monitor the primary; its password for the data pods comes from the credentials Secret. */
import { SENTINEL_INFO_PERIOD_MS } from '#domain';
import { RESOURCE } from '#kube';
import { SENTINEL_USER } from '#manifests';
import type { ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';

export const executeMonitorPrimary: Executor<'MonitorPrimary'> = async (action, context) => {
  const { masterName, primaryHost, primaryPort, quorum, settings } = action;
  const link = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  const password = await readSentinelPassword(context);
  context.assertMayWrite();
  const auth = { username: SENTINEL_USER, password };
  throwIfRefused(await link.setInfoPeriod(SENTINEL_INFO_PERIOD_MS));
  context.assertMayWrite();
  throwIfRefused(await link.monitor({ masterName, primaryHost, primaryPort, quorum, settings, auth }));
};

const readSentinelPassword = async ({ client, names, namespace }: ExecutionContext): Promise<string> => {
  const name = names.credentialsSecret;
  const secret = await client.find(RESOURCE.secret, { namespace, name });
  const encoded = ((secret?.['data'] ?? {}) as Record<string, string>)[SENTINEL_USER];
  if (encoded === undefined) throw new RefusedError('NO_CREDENTIALS', `Secret ${name} is not there yet.`);
  return Buffer.from(encoded, 'base64').toString('utf8');
};
