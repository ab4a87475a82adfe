/**
 * replica-priority is the operator's: a planned hand-over lowers that of its target for a few seconds. A pass sees it
 * lowered only when the agent was killed in between, or somebody set it by hand; it is put back then. Otherwise the next
 * failover would go to that pod whether or not it is the furthest along. A pod that starts
 * without the data it is to keep has 0 until it was linked once: Sentinel takes also a replica that never had a copy.
 */
import { REPLICA_PRIORITY } from '#domain';
import type { Action } from '#domain';
import { answers } from '../cluster-view.ts';
import { isHeldBack } from '../replication-role.ts';
import type { Rule } from '../rule.ts';

export const restorePriority: Rule = {
  name: 'restore-priority',
  decide: ({ view, planned }) => {
    if (planned.some((action) => action.kind === 'SwitchOver')) return undefined;
    const actions = view.dataPods
      .filter(answers)
      .filter((pod) => !isHeldBack(pod))
      .filter((pod) => (pod.facts.config['replica-priority'] ?? REPLICA_PRIORITY) !== REPLICA_PRIORITY)
      .map((pod): Action => {
        const message = `Putting replica-priority of ${pod.name} back to ${REPLICA_PRIORITY}.`;
        const values = { 'replica-priority': REPLICA_PRIORITY };
        return { kind: 'SetConfig', pod: pod.name, values, reason: 'PriorityLeftOver', message, disruptive: false };
      });
    const [first] = actions;
    return first === undefined ? undefined : { reason: first.reason, message: first.message, actions };
  },
};
