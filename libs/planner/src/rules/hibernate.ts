/**
 * spec.hibernation: how far the pods have gone (shape/step-hibernation.ts renders the steps). From the moment when the
 * replicas are gone no later rule may act, but to begin a missing append-only file: there is nothing to repair about a data set that is being put to sleep, and a
 * promotion or an attachment would work against it.
 */
import { lacksFile } from '../shape/step-hibernation.ts';
import { sleeps } from '../shape/step-mode.ts';
import type { Rule } from '../rule.ts';

export const hibernate: Rule = {
  name: 'hibernate',
  decide: ({ view, primary }) => {
    if (!view.wanted.hibernated) return undefined;
    if (!sleeps(view)) return view.live.mode === undefined ? undefined : explainAwake();
    const [note] = view.shapeNotes;
    const running = view.live.running.redis ?? view.spec.size;
    if (note !== undefined) {
      const finding = { type: 'Reconciling', status: 'True', ...note } as const;
      return { ...note, findings: [finding], halt: running <= 1 && !(primary !== undefined && lacksFile(primary)) };
    }
    const reason = 'Hibernated';
    const message = 'No pod runs; the volumes hold every key. Set spec.hibernation to false to wake it.';
    return { reason, message, halt: true, findings: [{ type: 'Hibernated', status: 'True', reason, message }] };
  },
};

const explainAwake = (): ReturnType<Rule['decide']> => {
  const reason = 'PersistenceNotThere';
  const message = 'Hibernation waits until persistence on volumes is in force; without it the data would be lost.';
  return { reason, message, findings: [{ type: 'Reconciling', status: 'True', reason, message }] };
};
