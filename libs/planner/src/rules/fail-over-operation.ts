/**
 * The hand-over that a RedisOperation Failover has begun. It is planned only while the primary and its term are those that
 * were noted: after that it is done, whoever did it, and a second hand-over would be nobody's wish. And only while the
 * operation is told to be Running: an agent that comes back hours later finds it out of time.
 */
import { judgeBegun } from '../operations/fail-over.ts';
import { findBegunOperation } from '../operations/open-operations.ts';
import { waitFor } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const failOverOperation: Rule = {
  name: 'fail-over-operation',
  decide: ({ view, primary, planned }) => {
    const operation = findBegunOperation(view, 'Failover');
    if (operation === undefined) return undefined;
    const { next } = judgeBegun({ operation, view, primary });
    if (next === undefined) return undefined;
    if ('cannot' in next) return waitFor(next.cannot.reason, next.cannot.message);
    const before = planned.find((action) => action.disruptive);
    if (before !== undefined) return waitFor('OtherDisruption', `The hand-over waits: ${before.message}`);
    return { reason: next.reason, message: next.message, actions: [next] };
  },
};
