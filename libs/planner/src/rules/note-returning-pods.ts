/**
 * Keeps the record's list of pods that come back to an old volume (find-returning.ts): named before the size grows over
 * such a volume, each time with another stamp, and taken off once the pod is linked to the primary, is the primary, or is
 * not wanted any more; that also where the spec is refused, since a copy that is not counted is missed in an outage. The
 * stamp tells the entrypoint one return from the next, so it sets aside once and never what the
 * pod has copied since.
 */
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { isLinkedTo } from '../assess-health.ts';
import { findUnnotedVolumes, isRecordedPrimary } from '../find-returning.ts';
import { writeRecord } from '../make-action.ts';
import { sleeps } from '../shape/step-mode.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

type Returning = Readonly<Record<string, number>>;

export const noteReturningPods: Rule = {
  name: 'note-returning-pods',
  decide: ({ view, primary }) => {
    if (view.record === undefined) return undefined;
    const { returning = {} } = view.record;
    const kept = Object.fromEntries(
      Object.entries(returning).filter(([ordinal]) => !hasJoined(view, primary, Number(ordinal))),
    );
    const fresh = findFresh(view);
    if (fresh.length === 0 && Object.keys(kept).length === Object.keys(returning).length) return undefined;
    return note(view, kept, fresh);
  },
};

const findFresh = (view: ClusterView): readonly number[] =>
  !view.specUsable || sleeps(view) ? [] : findUnnotedVolumes(view);

const hasJoined = (view: ClusterView, primary: AnsweringPod | undefined, ordinal: number): boolean => {
  if (ordinal >= Math.max(view.wanted.size, view.live.size ?? 0) || isRecordedPrimary(view, ordinal)) return true;
  const pod = view.dataPods.find((candidate) => candidate.ordinal === ordinal);
  if (pod === undefined || primary === undefined) return false;
  return pod.name === primary.name || isLinkedTo(pod, primary);
};

const note = (view: ClusterView, kept: Returning, fresh: readonly number[]): RuleOutcome => {
  const stamp = Math.floor(view.nowMs / 1_000);
  const returning = { ...kept, ...Object.fromEntries(fresh.map((ordinal) => [ordinal, stamp])) };
  const reason = fresh.length > 0 ? 'NotingOldVolumes' : 'PodsReturned';
  const message =
    fresh.length > 0
      ? `The volumes of data pods ${fresh.join(', ')} are left from an earlier size; what they hold is no copy any more.`
      : 'The data pods that came back to old volumes are members again.';
  return { reason, message, actions: [writeRecord(view, { returning }, reason, message)] };
};
