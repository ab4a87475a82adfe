import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** REPLICAOF host port; the run id is read again in the same connection right before. */
export const executeReplicateFrom: Executor<'ReplicateFrom'> = async (action, { findRedis, assertMayWrite }) => {
  const { pod, expectRunId, primaryHost, primaryPort } = action;
  const link = requireLink(findRedis(pod), pod);
  assertMayWrite();
  throwIfRefused(await link.replicaOf({ expectRunId, primaryHost, primaryPort }));
};
