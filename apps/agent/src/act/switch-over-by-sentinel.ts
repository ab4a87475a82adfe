/**
 * The hand-over in Sentinel mode: the target is made the Sentinel's first choice → writes are paused → every linked
 * replica has them all → SENTINEL FAILOVER → the old primary follows → a majority names the new one → writes go on.
 * SENTINEL FAILOVER of a live, unpaused primary lost 15 % of the acknowledged writes in a trial. The pause is lifted
 * early only where it is safe: before the command, or when the old primary follows the new one. In between it is left to
 * end by itself, since a promotion may still come. The old primary's clients are disconnected at the end, as Sentinel does
 * whenever it demotes a node itself: a client that looks for its primary only when its connection ends, which is what
 * Sentinel's guide for clients asks of it, would else write to a replica for ever.
 */
import { RedisCallError } from '#redis';
import type { RedisLink, SentinelLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import { followNewPrimary } from './follow-new-primary.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';
import { preferTarget, restorePreference } from './prefer-target.ts';
import { throwIfEnded } from './throw-if-ended.ts';

/** Longer than all that follows it, so that it never ends in the middle. */
const PAUSE_MS = 15_000;
const CATCH_UP_MS = 5_000;
const PROMOTE_WITHIN_MS = 6_000;
const AGREE_WITHIN_MS = 3_000;
const POLL_MS = 20;

export const switchOverBySentinel = async (handover: Handover): Promise<void> => {
  const { action, context, from } = handover;
  const [leader, ...rest] = action.sentinelPods.map((pod) => requireLink(context.findSentinel(pod), pod));
  if (leader === undefined) throw new RefusedError('NO_SENTINEL', 'There is no Sentinel to do it.');
  // Asked before anything is changed, so that writers are not paused for a hand-over that would be refused.
  throwIfRefused(await leader.mayFailOver(action.masterName ?? '', { host: from.host, port: from.port }));
  try {
    await preferTarget(handover, leader);
    await handOverPaused(handover, [leader, ...rest]);
  } finally {
    await restorePreference(handover, leader);
  }
};

const handOverPaused = async (handover: Handover, sentinels: readonly [SentinelLink, ...SentinelLink[]]) => {
  const { action, context, from } = handover;
  context.assertMayWrite();
  let commanded = false;
  let following = false;
  try {
    // Within: the answer may be lost where the pause was not.
    throwIfRefused(await from.pauseWrites(PAUSE_MS));
    await awaitCaughtUp(handover);
    context.assertMayWrite();
    commanded = true;
    const expect = { host: from.host, port: from.port };
    const outcome = await sentinels[0].failOver(action.masterName ?? '', expect);
    commanded = outcome.outcome !== 'REFUSED';
    throwIfRefused(outcome);
    await awaitPromotion(handover);
    await followNewPrimary(handover);
    following = true;
    await awaitAgreement(handover, sentinels);
  } finally {
    if (following) await dismissClients(from);
    else if (!commanded) await from.resumeWrites();
  }
};

/** A pod that is being deleted may end now: so do its clients' connections. */
const dismissClients = async (from: RedisLink): Promise<void> => {
  try {
    await from.dismissClients();
  } catch (error) {
    if (!(error instanceof RedisCallError)) throw error;
  }
};

/** Asked at the replicas themselves: what the primary knows of them is up to a second old. */
const awaitCaughtUp = async ({ action, from, to, others }: Handover): Promise<void> => {
  const links = [to, ...others.map(({ link }) => link)];
  const done = await pollUntil({ withinMs: CATCH_UP_MS, everyMs: POLL_MS }, async () => {
    const [primary, ...replicas] = await Promise.all([from.probe(), ...links.map((link) => link.probe())]);
    throwIfEnded(primary, action.from);
    if (primary?.reachable !== true || primary.runId !== action.fromRunId) return undefined;
    const level = replicas.every(
      (facts) =>
        facts.reachable && facts.replicationId === primary.replicationId && facts.offsetBytes === primary.offsetBytes,
    );
    return level ? true : undefined;
  });
  if (done !== true) {
    const message = `The replicas of ${action.from} did not catch up within ${CATCH_UP_MS / 1_000} s; it stays primary.`;
    throw new RefusedError('NOT_CAUGHT_UP', message);
  }
};

const awaitPromotion = async ({ action, to }: Handover): Promise<void> => {
  const promoted = await pollUntil({ withinMs: PROMOTE_WITHIN_MS, everyMs: POLL_MS }, async () => {
    const facts = await to.probe();
    return facts.reachable && facts.role === 'master' ? true : undefined;
  });
  if (promoted === true) return;
  throw new RefusedError('NOT_PROMOTED', `The Sentinel did not make ${action.to} primary in time.`);
};

/** Clients ask any Sentinel, so their writes go on when more than half name the new primary. */
const awaitAgreement = async ({ action, to }: Handover, sentinels: readonly SentinelLink[]): Promise<void> => {
  const agreed = await pollUntil({ withinMs: AGREE_WITHIN_MS, everyMs: POLL_MS }, async () => {
    const answers = await Promise.allSettled(sentinels.map((link) => link.primaryAddress(action.masterName ?? '')));
    const naming = answers.filter(
      (answer) => answer.status === 'fulfilled' && answer.value?.host === to.host && answer.value.port === to.port,
    );
    return naming.length * 2 > sentinels.length ? true : undefined;
  });
  if (agreed === true) return;
  throw new RefusedError('NOT_AGREED', `${action.to} is primary, but no majority of the Sentinels names it yet.`);
};
