import type { Executor } from './execution-context.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';

/** CLIENT PAUSE WRITE, then every client connection but ours is closed. The pause ends by itself, so it is repeated. */
export const executeFencePod: Executor<'FencePod'> = async (action, { findRedis, assertMayWrite }) => {
  const link = requireLink(findRedis(action.pod), action.pod);
  assertMayWrite();
  throwIfRefused(await link.fence(action.expectRunId, action.pauseMs));
};

export const executeResumePod: Executor<'ResumePod'> = async (action, { findRedis, assertMayWrite }) => {
  const link = requireLink(findRedis(action.pod), action.pod);
  const facts = await link.probe();
  if (facts.reachable && action.expectRunId !== '' && facts.runId !== action.expectRunId) {
    throw new RefusedError('RESTARTED', 'The process is another one than was planned for.');
  }
  assertMayWrite();
  throwIfRefused(await link.resumeWrites());
};
