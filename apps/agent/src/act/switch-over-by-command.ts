/**
 * The hand-over without Sentinel: FAILOVER TO, in which the server pauses its writers, waits for the target and changes
 * roles itself. Over when it says so and answers as a replica; a server that did not make it in its own time-out has gone
 * on as primary, and ABORT makes sure of it. Never once the target says that it is primary: an old primary that has
 * stepped down and waits for the target's answer would become primary again beside it.
 */
import type { RedisLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import { followNewPrimary } from './follow-new-primary.ts';
import { RefusedError, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';

const LIMITS = {
  /** For the target to catch up under the pause; the server aborts by itself then. */
  catchUpMs: 5_000,
  /** That time, and the hand-over proper. */
  overWithinMs: 8_000,
};

export const switchOverByCommand = async (handover: Handover, { catchUpMs, overWithinMs } = LIMITS): Promise<void> => {
  const { action, context, from, to } = handover;
  context.assertMayWrite();
  const target = { expectRunId: action.fromRunId, host: to.host, port: to.port, timeoutMs: catchUpMs };
  throwIfRefused(await from.beginFailover(target));
  const end = await pollUntil({ withinMs: overWithinMs, everyMs: 20 }, async () => {
    const facts = await from.probe();
    return facts.reachable && facts.failoverState === undefined ? facts.role : undefined;
  });
  if (end === 'slave' || (await isPrimary(to))) return finish(handover);
  context.assertMayWrite();
  // Refused when none is on any more, which is as good.
  await from.abortFailover();
  throw new RefusedError('NOT_CAUGHT_UP', `${action.to} did not catch up in time; ${action.from} stays primary.`);
};

/** The old primary is linked to the new one as part of the command; only the others still follow it. */
const finish = async (handover: Handover): Promise<void> => {
  const { action, to } = handover;
  const promoted = await pollUntil({ withinMs: 2_000, everyMs: 20 }, async () =>
    (await isPrimary(to)) ? true : undefined,
  );
  if (promoted !== true) throw new RefusedError('NOT_VERIFIED', `${action.to} does not say that it is primary.`);
  await followNewPrimary(handover);
};

const isPrimary = async (link: RedisLink): Promise<boolean> => {
  const facts = await link.probe();
  return facts.reachable && facts.role === 'master';
};
