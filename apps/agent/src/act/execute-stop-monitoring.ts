import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** SENTINEL REMOVE; that no failover runs is read again in the same connection right before. Done when it watched nothing. */
export const executeStopMonitoring: Executor<'StopMonitoring'> = async ({ sentinelPod, masterName }, context) => {
  const link = requireLink(context.findSentinel(sentinelPod), sentinelPod);
  context.assertMayWrite();
  throwIfRefused(await link.remove(masterName));
};
