/**
 * Rolling restarts, one pod at a time, of pods that were made from an older template or that a RedisOperation names.
 * Decided anew in each pass from what is seen, so it goes on wherever it was cut off: pods that serve nobody at once;
 * Sentinels, then replicas, each when everything has settled after the one before; then a switchover to an updated
 * replica, and the old primary last. A refused switchover stops it with the reason, and so does a pod that does not come
 * back: with a bad image that is the first one, and taking the change back replaces it. Invariant: at most one pod of
 * the data set is away, and the primary never goes before a linked, updated replica has taken over.
 */
import type { Action } from '#domain';
import type { AnsweringPod, ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { consentGiven } from '../operations/consent-given.ts';
import { restartsAsked } from '../operations/restarts-asked.ts';
import { planSwitchover } from '../plan-switchover.ts';
import { chooseRestart, findBroken, isReceiving } from '../rollout/choose-restart.ts';
import type { NextRestart } from '../rollout/choose-restart.ts';
import { explainHold, explainTurn, isRepair, isUnderWay } from '../rollout/explain-hold.ts';
import { explainLostUsers } from '../rollout/explain-lost-users.ts';
import { explainUnrest } from '../rollout/explain-unrest.ts';
import type { Unrest } from '../rollout/explain-unrest.ts';
import { findOutdated } from '../rollout/find-outdated.ts';
import type { OutdatedPods } from '../rollout/find-outdated.ts';
import { explainStrictPrimary } from '../rollout/min-replicas-while-rolling.ts';
import { beginSurge, endSurge, isSurgeNeedless, losesDataAlone, REMOVING_SURGE } from '../rollout/surge.ts';
import { WAITING_FOR_OTHERS, tellRollout } from '../rollout/tell-rollout.ts';
import type { RolloutNews } from '../rollout/tell-rollout.ts';
import type { Rule, RuleContext, RuleOutcome } from '../rule.ts';
import { CONFIG_DIFFERS } from './correct-config.ts';

export const rollOut: Rule = {
  name: 'roll-out',
  decide: (context) => {
    const { view, primary } = context;
    if (!view.specUsable) return undefined;
    const outdated = findOutdated(view, restartsAsked(view));
    const broken = findBroken(view, primary, outdated);
    if (broken.length > 0) return replaceBroken(context, outdated, broken);
    const count = outdated.sentinels.length + outdated.data.length;
    if (count === 0) return finish(context, outdated);
    if (primary === undefined) return tell(context, outdated, NO_PRIMARY);
    const next = chooseRestart(primary, outdated);
    return next === undefined ? undefined : goOn(context, outdated, next);
  },
};

const NO_PRIMARY: Unrest = { reason: 'NoPrimary', message: 'No pod is restarted while there is no confirmed primary.' };

const tell = ({ view, primary }: RuleContext, outdated: OutdatedPods, why: RolloutNews): RuleOutcome =>
  tellRollout(view, primary, outdated, why);

/** They serve nobody, so this disrupts nothing and waits for no window, nor for a turn; what comes after it does. */
const replaceBroken = (
  context: RuleContext,
  outdated: OutdatedPods,
  broken: readonly (DataPod | SentinelPod)[],
): RuleOutcome => {
  const reason = 'ReplacingBrokenPod';
  const names = broken.map((pod) => pod.name).join(', ');
  const message = `${names} cannot start, and the template has changed since: made anew from it.`;
  const actions = broken.map((pod): Action => ({
    kind: 'DeletePod',
    pod: pod.name,
    podUid: pod.uid,
    force: false,
    reason,
    message: `${pod.name} cannot start and is made anew.`,
    disruptive: false,
  }));
  const held = explainTurn(context.view);
  const news =
    held === undefined ? { reason, message, acts: true } : { ...held, message: `${message} ${held.message}` };
  return { ...tell(context, outdated, news), actions };
};

/** Nothing is left to restart: the extra pod goes, and the last one restarted is waited for. */
const finish = (context: RuleContext, outdated: OutdatedPods): RuleOutcome | undefined => {
  const { view, primary } = context;
  const begun = isUnderWay(view.snapshot.resource.status?.rollout);
  if (!begun && view.record?.surge === undefined) return undefined;
  const unrest = primary === undefined ? NO_PRIMARY : explainUnrest(view, primary);
  if (unrest !== undefined && !isSurgeNeedless(view, primary)) return tell(context, outdated, unrest);
  const step = endSurge(view);
  if (step === undefined) return undefined;
  return 'kind' in step ? act(context, outdated, step) : tell(context, outdated, step);
};

const goOn = (context: RuleContext, outdated: OutdatedPods, next: NextRestart): RuleOutcome => {
  const { view, primary, planned } = context;
  const unrest = primary && explainNotYet(context, primary, outdated, next);
  const hold = explainHold(view, next, outdated, (hash) => consentGiven(view, hash));
  const begun = isUnderWay(view.snapshot.resource.status?.rollout);
  // What was begun is not called held before the pod that is away is back.
  if (hold !== undefined && !(begun && unrest !== undefined)) return tell(context, outdated, hold);
  if (unrest !== undefined) return tell(context, outdated, unrest);
  const first = planned.find(holdsRestart);
  if (first !== undefined) return tell(context, outdated, { reason: WAITING_FOR_OTHERS, message: first.message });
  return next.kind === 'primary' ? restartPrimary(context, outdated, next.pod) : restart(context, outdated, next.pod);
};

/** A directive that is set live disturbs nobody; one that is refused or changed back for ever would hold it without end. */
const holdsRestart = ({ kind, reason }: Action): boolean =>
  kind !== 'LabelRole' && !(kind === 'SetConfig' && reason === CONFIG_DIFFERS);

const explainNotYet = (
  { view }: RuleContext,
  primary: AnsweringPod,
  outdated: OutdatedPods,
  next: NextRestart,
): Unrest | undefined =>
  explainUnrest(view, primary, next.apart) ??
  explainReady(view, primary, next) ??
  explainLostUsers(view, primary, outdated);

const explainReady = (view: ClusterView, primary: AnsweringPod, next: NextRestart): Unrest | undefined => {
  if (view.record?.surge === 'Removing') return REMOVING_SURGE;
  // It takes nothing away: its primary has no copy in it, and can have none.
  if (next.kind !== 'replica' || isRepair(next)) return undefined;
  if (isReceiving(next.pod)) return { reason: 'WaitingForPod', message: `${next.pod.name} is receiving its copy.` };
  return explainStrictPrimary(view, primary);
};

const act = (context: RuleContext, outdated: OutdatedPods, action: Action): RuleOutcome => ({
  ...tell(context, outdated, { reason: action.reason, message: action.message, acts: true }),
  actions: [action],
});

const restart = (context: RuleContext, outdated: OutdatedPods, pod: DataPod | SentinelPod): RuleOutcome => {
  const role = pod.component === 'sentinel' ? 'Sentinel ' : '';
  const message = `Restarting ${role}${pod.name}.`;
  const action = { kind: 'EvictPod', pod: pod.name, podUid: pod.uid, reason: 'RestartingPod', message } as const;
  return act(context, outdated, { ...action, disruptive: true });
};

/** With replicas it hands over first; alone it restarts in place when its disk keeps everything, else a second pod comes. */
const restartPrimary = (context: RuleContext, outdated: OutdatedPods, primary: AnsweringPod): RuleOutcome => {
  const { view } = context;
  if (isAlone(view)) {
    if (!losesDataAlone(view)) return restart(context, outdated, primary);
    return view.record?.surge === undefined
      ? act(context, outdated, beginSurge(view))
      : tell(context, outdated, { reason: 'AddingSurgePod', message: 'The second pod is on its way.' });
  }
  const message = `${primary.name} is the last to be restarted; it hands over to an updated replica first.`;
  const step = planSwitchover(view, primary, { reason: 'SwitchingOver', message });
  return 'cannot' in step ? tell(context, outdated, step.cannot) : act(context, outdated, step);
};

const isAlone = ({ spec, dataPods }: ClusterView): boolean => spec.size === 1 && dataPods.length === 1;
