/**
 * The hand-over without Sentinel: FAILOVER TO, in which the server pauses its writers, waits for the target and changes
 * roles itself. Over when it says so and answers as a replica; a server that did not make it in its own time-out has gone
 * on as primary, and ABORT makes sure of it.
 */
import type { Handover } from './execute-switch-over.ts';
import { followNewPrimary } from './follow-new-primary.ts';
import { RefusedError, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';

/** For the target to catch up under the pause; the server aborts by itself then. */
const CATCH_UP_MS = 5_000;
/** That time, and the hand-over proper. */
const OVER_WITHIN_MS = 8_000;

export const switchOverByCommand = async (handover: Handover): Promise<void> => {
  const { action, context, from, to } = handover;
  context.assertMayWrite();
  const target = { expectRunId: action.fromRunId, host: to.host, port: to.port, timeoutMs: CATCH_UP_MS };
  throwIfRefused(await from.beginFailover(target));
  const end = await pollUntil({ withinMs: OVER_WITHIN_MS, everyMs: 20 }, async () => {
    const facts = await from.probe();
    return facts.reachable && facts.failoverState === undefined ? facts.role : undefined;
  });
  if (end === 'slave') return finish(handover);
  context.assertMayWrite();
  // Refused when none is on any more, which is as good.
  await from.abortFailover();
  throw new RefusedError('NOT_CAUGHT_UP', `${action.to} did not catch up in time; ${action.from} stays primary.`);
};

/** The old primary is linked to the new one as part of the command; only the others still follow it. */
const finish = async (handover: Handover): Promise<void> => {
  const { action, to } = handover;
  const promoted = await pollUntil({ withinMs: 2_000, everyMs: 20 }, async () => {
    const facts = await to.probe();
    return facts.reachable && facts.role === 'master' ? true : undefined;
  });
  if (promoted !== true) throw new RefusedError('NOT_VERIFIED', `${action.to} does not say that it is primary.`);
  await followNewPrimary(handover);
};
