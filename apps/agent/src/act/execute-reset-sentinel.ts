import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** SENTINEL RESET on this one Sentinel; that it is settled is read again in the same connection right before. */
export const executeResetSentinel: Executor<'ResetSentinel'> = async (action, context) => {
  const link = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  context.assertMayWrite();
  throwIfRefused(await link.reset(action.masterName, action.expectPrimaryHost));
};
