/**
 * The record's count of members is for the time in which nothing runs: gate-deletion.ts writes it before the last object
 * that tells it is deleted, and a data set that is taken up again begins with it. As soon as its StatefulSet tells the size
 * again, the count goes. Without it a smaller size leaves out the volume of the primary, and a larger one
 * starts pods over volumes of an earlier membership as if they were copies.
 */
import { findChild } from '../find-child.ts';
import { writeRecord } from '../make-action.ts';
import type { Rule } from '../rule.ts';

export const forgetMembers: Rule = {
  name: 'forget-members',
  decide: ({ view }) => {
    if (view.record?.members === undefined || view.live.mode === undefined) return undefined;
    if (findChild(view.snapshot, 'StatefulSet', view.names.redis) === undefined) return undefined;
    const { members: _, ...record } = view.record;
    const reason = 'TakenUpAgain';
    const message = `The data set is taken up again with its ${view.live.size ?? 0} data pods.`;
    const action = writeRecord({ ...view, record }, {}, reason, message);
    return { reason, message, actions: [action] };
  },
};
