import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** REPLICAOF NO ONE; run id, emptiness and waiting are read again in the same connection right before (04). */
export const executePromotePod: Executor<'PromotePod'> = async (action, { findRedis, assertMayWrite }) => {
  const { pod, expectRunId, onlyIfEmpty, onlyIfWaiting } = action;
  const link = requireLink(findRedis(pod), pod);
  assertMayWrite();
  throwIfRefused(await link.promote({ expectRunId, onlyIfEmpty, onlyIfWaiting }));
};
