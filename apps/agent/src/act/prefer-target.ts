/**
 * Makes one Sentinel choose the wanted replica, and choose it soon. A Sentinel takes the lowest replica-priority that it
 * last saw, and asks only every few seconds: meanwhile it is told to ask every second (an option kept in its memory alone). It is then
 * commanded when its next question is due a moment after the promotion, since only the answer to that question tells it
 * that the replica is primary. A priority that a killed agent left behind is put back by rule restore-priority.
 */
import { REPLICA_PRIORITY, SENTINEL_INFO_PERIOD_MS } from '#domain';
import type { ReplicaView, SentinelLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import { RefusedError, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';
import { throwIfEnded } from './throw-if-ended.ts';

export const PREFERRED = '1';
const ASK_EVERY_MS = 1_000;
const SEEN_WITHIN_MS = 8_000;
/** Three ticks of 100 ms pass from the command to the promotion, and the next question comes 1 s after the last. */
const DUE_SOON = { fromMs: 450, toMs: 650 };

export const preferTarget = async (handover: Handover, sentinel: SentinelLink): Promise<void> => {
  const { action, context, from, to, others } = handover;
  const views = () => sentinel.replicaViews(action.masterName ?? '');
  if (!isFirstChoice(await views(), handover)) {
    context.assertMayWrite();
    throwIfRefused(await to.configSet({ 'replica-priority': PREFERRED }));
    // What an earlier, cut-off hand-over preferred would be an equal.
    for (const { link } of others) {
      context.assertMayWrite();
      throwIfRefused(await link.configSet({ 'replica-priority': REPLICA_PRIORITY }));
    }
  }
  context.assertMayWrite();
  throwIfRefused(await sentinel.setInfoPeriod(ASK_EVERY_MS));
  const seen = await pollUntil({ withinMs: SEEN_WITHIN_MS, everyMs: 20 }, async () => {
    const [now, primary] = await Promise.all([views(), from.probe()]);
    throwIfEnded(primary, action.from);
    const ageMs = viewOf(now, handover)?.infoAgeMs ?? 0;
    return isFirstChoice(now, handover) && ageMs >= DUE_SOON.fromMs && ageMs <= DUE_SOON.toMs ? true : undefined;
  });
  if (seen !== true) throw new RefusedError('NOT_PREFERRED', `The Sentinel does not prefer ${action.to} in time.`);
};

/** Best effort, also when the Lease is gone: each of these is put right by a later pass. */
export const restorePreference = async ({ context, to }: Handover, sentinel: SentinelLink): Promise<void> => {
  try {
    context.assertMayWrite();
    await Promise.allSettled([
      to.configSet({ 'replica-priority': REPLICA_PRIORITY }),
      sentinel.setInfoPeriod(SENTINEL_INFO_PERIOD_MS),
    ]);
  } catch {
    // Fenced: nothing is written, and what led here is told by the error that is on its way.
  }
};

const viewOf = (views: readonly ReplicaView[], { to }: Handover): ReplicaView | undefined =>
  views.find((view) => view.host === to.host && view.port === to.port);

/** Known, up, and of a priority that no other replica it may choose shares or beats. */
const isFirstChoice = (views: readonly ReplicaView[], handover: Handover): boolean => {
  const target = viewOf(views, handover);
  if (target === undefined || !isChoosable(target)) return false;
  return views.every((view) => view === target || view.priority === 0 || view.priority > target.priority);
};

/** A Sentinel may promote it, by what it last heard. */
export const isChoosable = ({ priority, flags }: ReplicaView): boolean =>
  priority !== 0 && !flags.some((flag) => UNFIT.has(flag));

const UNFIT: ReadonlySet<string> = new Set(['s_down', 'o_down', 'disconnected']);
