/**
 * The confirmed primary's pod is being deleted (a drain, an eviction, `kubectl delete pod`) and still serves: its preStop
 * holds it for a few seconds, in which it is handed over. No acknowledged write is lost and the writers stand still for a
 * fraction of a second; its death would be a failover. Decided anew in each pass from what is seen, so a killed agent
 * goes on, or finds it done. Invariant: never to a pod that goes as well, never where the whole data set goes, and never
 * begun on a pod without that preStop, which is gone before anything is done: there the failover would only begin later.
 * What cannot be handed over dies as before: Sentinel, or a proven death.
 */
import { ANNOTATION, ENDING_REASON } from '#domain';
import { holdsAtEnd } from '#manifests';
import type { DataPod } from '../cluster-view.ts';
import { planSwitchover } from '../plan-switchover.ts';
import type { Rule } from '../rule.ts';
import { sleeps } from '../shape/step-mode.ts';

export const handOverEnding: Rule = {
  name: 'hand-over-ending',
  decide: ({ view, primary, planned }) => {
    if (primary?.terminating !== true || !isHeld(primary)) return undefined;
    // Manual: the agent makes nobody primary in its place. Asleep it is to be the same again.
    if (view.spec.failover.mode === 'Manual' || sleeps(view)) return undefined;
    if (planned.some((action) => action.disruptive)) return undefined;
    const message = `${primary.name} is being deleted; it hands over first.`;
    const made = planSwitchover(view, primary, { reason: ENDING_REASON, message });
    if (!('cannot' in made)) return { reason: made.reason, message: made.message, actions: [made] };
    const { reason, message: why } = made.cannot;
    return { reason, message: `${primary.name} is being deleted and cannot hand over: ${why}` };
  },
};

const isHeld = ({ annotations }: DataPod): boolean => holdsAtEnd(Number(annotations[ANNOTATION.renderVersion] ?? 1));
