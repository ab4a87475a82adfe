/**
 * A spec that may not be applied, or not yet. What it refuses was decided in acceptSpec; here it is told. While nothing
 * runs yet it also halts, since a data set must not be created from half a spec; a running one is kept healthy.
 */
import type { Rule } from '../rule.ts';

export const gateRejectedSpec: Rule = {
  name: 'gate-rejected-spec',
  decide: ({ view: { refusals, specUsable, dataPods } }) => {
    const [first] = refusals;
    if (first === undefined) return undefined;
    const message = refusals.map((refusal) => refusal.message).join(' ');
    return {
      reason: first.reason,
      message,
      findings: [{ type: 'SpecRejected', status: 'True', reason: first.reason, message }],
      halt: !specUsable && dataPods.length === 0,
    };
  },
};
