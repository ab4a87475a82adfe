import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** SENTINEL SET on this one Sentinel; settings do not spread by themselves. */
export const executeSetSentinelSettings: Executor<'SetSentinelSettings'> = async (action, context) => {
  const link = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  context.assertMayWrite();
  throwIfRefused(await link.set(action.masterName, action.settings));
};
