/**
 * spec.suspend: the agent only reports what it sees. Nothing is changed, repaired or promoted; Sentinel and what runs in
 * the pods go on by themselves. A deletion is not held up by it: it is asked before.
 */
import type { Rule } from '../rule.ts';

export const gateSuspended: Rule = {
  name: 'gate-suspended',
  decide: ({ view }) => {
    if (!view.wanted.suspended) return undefined;
    const reason = 'Suspended';
    const message = 'spec.suspend is true: the agent only reports. Set it to false, and it acts again.';
    return { reason, message, halt: true, findings: [{ type: 'Reconciling', status: 'False', reason, message }] };
  },
};
