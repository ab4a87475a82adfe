import { REDIS_PORT } from '#domain';
import { WITNESS_TIMEOUT_MS, isRefused } from '#redis';
import type { Executor } from './execution-context.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';

/**
 * REPLICAOF NO ONE; run id, emptiness and waiting are read again in the same connection right before (04), and an address
 * that was proven dead by refusals is asked once more.
 */
export const executePromotePod: Executor<'PromotePod'> = async (action, { findRedis, assertMayWrite }) => {
  const { pod, expectRunId, onlyIfEmpty, onlyIfWaiting, onlyIfRefused } = action;
  const link = requireLink(findRedis(pod), pod);
  if (onlyIfRefused !== undefined) {
    const dead = await isRefused({ host: onlyIfRefused, port: REDIS_PORT, timeoutMs: WITNESS_TIMEOUT_MS });
    if (!dead) throw new RefusedError('NOT_DEAD', `${onlyIfRefused} does not refuse connections any more.`);
  }
  assertMayWrite();
  throwIfRefused(await link.promote({ expectRunId, onlyIfEmpty, onlyIfWaiting }));
};
