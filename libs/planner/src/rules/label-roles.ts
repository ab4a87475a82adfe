/**
 * The role labels, by which the role Services select, follow the confirmed primary only; while nobody is confirmed they
 * stay as they are. The primary's label is taken away before it is given, so that the Service never selects two. A
 * hand-over that was carried out has confirmed its target, so the labels move in the same pass: clients of the Service
 * would else write to a replica until the next one.
 */
import { LABEL } from '#domain';
import type { Action } from '#domain';
import type { ClusterView, DataPod } from '../cluster-view.ts';
import type { SwitchOverAction } from '../plan-switchover.ts';
import type { Rule } from '../rule.ts';

export const labelRoles: Rule = {
  name: 'label-roles',
  decide: ({ view, primary }) => {
    if (primary === undefined) return undefined;
    const others = view.dataPods.filter((pod) => pod.name !== primary.name);
    const actions = [...others.flatMap((pod) => label(pod, 'replica')), ...label(primary, 'primary')];
    const [first] = actions;
    return first === undefined ? undefined : { reason: first.reason, message: first.message, actions };
  },
};

/**
 * Behind the hand-over in a plan, which goes on only when that was done to its end. Both always: the picture does not
 * show a label that the same plan gives before.
 */
export const labelsAfter = ({ dataPods }: ClusterView, { from, to }: SwitchOverAction): readonly Action[] => {
  const labelOf = (name: string, role: 'primary' | 'replica') =>
    dataPods.filter((pod) => pod.name === name).map((pod) => giveLabel(pod, role));
  return [...labelOf(from, 'replica'), ...labelOf(to, 'primary')];
};

const label = (pod: DataPod, role: 'primary' | 'replica'): Action[] =>
  pod.labels[LABEL.role] === role ? [] : [giveLabel(pod, role)];

const giveLabel = (pod: DataPod, role: 'primary' | 'replica'): Action => {
  const message = `${pod.name} is labelled as ${role}.`;
  return { kind: 'LabelRole', pod: pod.name, podUid: pod.uid, role, reason: 'RoleMoved', message, disruptive: false };
};
