/**
 * What a change of shape needs besides rendering (shape/choose-shape.ts): the Sentinels of a mode that is left are told
 * to watch nothing, and a primary that is not among the pods that stay hands over to one that is. Sentinels are silenced
 * only in calm, with the confirmed primary recorded: from then on the record alone says who is primary.
 */
import type { Action } from '#domain';
import { podName } from '#manifests';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import { planSwitchoverAlone } from '../plan-switchover.ts';
import { areSentinelsSilent, leavesSentinel, sleeps } from '../shape/step-mode.ts';
import { explainStaying } from '../shape/step-size.ts';
import { waitFor } from '../rule.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

export const changeShape: Rule = {
  name: 'change-shape',
  decide: ({ view, primary, planned }) => {
    if (!view.specUsable) return undefined;
    const [note] = view.shapeNotes;
    if (planned.some((action) => action.disruptive)) return note && waitFor(note.reason, note.message);
    return (
      silenceSentinels(view, primary) ?? moveFromLeaving(view, primary) ?? (note && waitFor(note.reason, note.message))
    );
  },
};

const silenceSentinels = (view: ClusterView, primary: AnsweringPod | undefined): RuleOutcome | undefined => {
  if (!leavesSentinel(view)) return undefined;
  const watching = view.sentinelPods.filter(({ facts }) => facts.reachable && facts.monitors);
  if (watching.length === 0) return undefined;
  const { failoverInProgress, agreedHost } = judgeSentinels(view);
  const begun = watching.length < view.sentinelPods.length;
  const calm = primary !== undefined && primary.name === view.record?.primaryPod && !failoverInProgress;
  if (!calm || !(begun || agreedHost === primary.ip)) {
    return waitFor('SentinelsNotAgreed', 'The Sentinels are left once they and the record agree on the primary.');
  }
  const reason = 'LeavingSentinel';
  const actions = watching.map((pod): Action => ({
    kind: 'StopMonitoring',
    sentinelPod: pod.name,
    masterName: view.names.masterName,
    reason,
    message: `Sentinel ${pod.name} watches nothing from now on.`,
    disruptive: false,
  }));
  const message = 'The Sentinels stop watching; the record keeps the primary.';
  return { ...waitFor(reason, message), actions };
};

/** On the way to sleep the Sentinels watch nothing any more; then the servers hand over between themselves. */
const withoutSilentSentinels = (view: ClusterView): ClusterView =>
  leavesSentinel(view) && areSentinelsSilent(view) ? { ...view, spec: { ...view.spec, mode: 'Replication' } } : view;

/** The primary hands over to the lowest ordinal, which no later step removes. */
const moveFromLeaving = (view: ClusterView, primary: AnsweringPod | undefined): RuleOutcome | undefined => {
  const goal = sleeps(view) ? 1 : view.wanted.size;
  const busyLeaving = leavesSentinel(view) && !areSentinelsSilent(view);
  if (primary === undefined || goal >= view.spec.size || busyLeaving) return undefined;
  if (explainStaying(view, primary, goal)?.[0] !== 'PrimaryMustMove') return undefined;
  const reason = 'PrimaryMustMove';
  const to = podName(view.names.redis, 0);
  const message = `${primary.name} hands over to ${to}: only ${goal} of ${view.spec.size} data pods stay.`;
  const made = planSwitchoverAlone(withoutSilentSentinels(view), primary, { to, reason, message });
  if ('cannot' in made) return waitFor(made.cannot.reason, `${message} ${made.cannot.message}`);
  return { ...waitFor(reason, message), actions: [made] };
};
