/**
 * A picture that is older than its limit is not acted on, nor one from the future, which means the clock has jumped
 * (04, Never 9). Without this gate an agent that was asleep would repair a world that is long gone.
 */
import type { Rule } from '../rule.ts';

export const gateStalePicture: Rule = {
  name: 'gate-stale-picture',
  decide: ({ view: { snapshot, nowMs, policy } }) => {
    const ageMs = nowMs - snapshot.observedAtMs;
    if (ageMs >= 0 && ageMs <= policy.snapshotMaxAgeMs) return undefined;
    return {
      reason: 'StalePicture',
      message:
        'What was seen of the cluster is too old, or the clock has jumped; nothing is done until it is seen anew.',
      halt: true,
    };
  },
};
