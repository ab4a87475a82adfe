/**
 * Deletes by force the pod of a node that a person declared dead by a RedisOperation, and never on its own judgement: an
 * agent cannot tell a dead node from one that it cannot hear (04).
 */
import type { Action } from '#domain';
import { findBegunOperation } from '../operations/open-operations.ts';
import { findUnreachablePod } from '../operations/replace-pod.ts';
import type { Rule } from '../rule.ts';

export const replaceUnreachable: Rule = {
  name: 'replace-unreachable',
  decide: ({ view }) => {
    const operation = findBegunOperation(view, 'ReplaceUnreachable');
    const pod = operation === undefined ? undefined : findUnreachablePod({ operation, view });
    if (pod === undefined) return undefined;
    const reason = 'ReplacingUnreachable';
    const message = `${pod.name} on node ${pod.node ?? 'unknown'} is deleted by force, as RedisOperation ${operation?.metadata.name ?? ''} asks.`;
    const action: Action = {
      kind: 'DeletePod',
      pod: pod.name,
      podUid: pod.uid,
      force: true,
      reason,
      message,
      disruptive: true,
    };
    return { reason, message, actions: [action] };
  },
};
