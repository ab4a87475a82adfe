import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** One CONFIG SET for all values: the server takes all of them or none. */
export const executeSetConfig: Executor<'SetConfig'> = async ({ pod, values }, { findRedis, assertMayWrite }) => {
  const link = requireLink(findRedis(pod), pod);
  assertMayWrite();
  throwIfRefused(await link.configSet(values));
};
