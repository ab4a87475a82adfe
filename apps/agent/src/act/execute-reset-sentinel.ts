import { SENTINEL_INFO_PERIOD_MS } from '#domain';
import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/**
 * SENTINEL RESET on this one Sentinel; that it is settled is read again in the same connection right before. A Sentinel
 * whose container was restarted asks every 10 s again, so how often it asks is told once more.
 */
export const executeResetSentinel: Executor<'ResetSentinel'> = async (action, context) => {
  const link = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  context.assertMayWrite();
  throwIfRefused(await link.setInfoPeriod(SENTINEL_INFO_PERIOD_MS));
  context.assertMayWrite();
  throwIfRefused(await link.reset(action.masterName, action.expectPrimaryHost));
};
