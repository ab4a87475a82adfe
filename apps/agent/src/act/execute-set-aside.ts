import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';

/** A save of a large data set takes a minute or two; the pass waits, since nothing else of this data set may go on. */
const TIMEOUT_MS = 120_000;

/** The pod's data as an RDB beside its live files; done only once the file is complete. */
export const executeSetAside: Executor<'SetAside'> = async (action, { findRedis, assertMayWrite }) => {
  const link = requireLink(findRedis(action.pod), action.pod);
  assertMayWrite();
  throwIfRefused(await link.setAside(action.expectRunId, action.file, TIMEOUT_MS));
};
