/**
 * After the new primary said that it is one: the old primary and the other replicas follow it at once, by the agent.
 * Sentinel moves replicas one after another and the old primary only after 8 s or more, and until
 * min-replicas-to-write are linked the new primary takes no write.
 */
import type { RedisLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import { throwIfRefused } from './execution-context.ts';

/** The old primary is told first; what a replica answers changes nothing, since a later pass attaches it. */
export const followNewPrimary = async ({ action, context, from, to, others }: Handover): Promise<void> => {
  const follow = (link: RedisLink, expectRunId: string, staysPaused: boolean) => {
    context.assertMayWrite();
    return link.replicaOf({ expectRunId, primaryHost: to.host, primaryPort: to.port, staysPaused });
  };
  // Its writers wait in the pause until their clients can find the new primary.
  const old = follow(from, action.fromRunId, true);
  await Promise.allSettled(others.map(({ link, runId }) => follow(link, runId, false)));
  throwIfRefused(await old);
};
