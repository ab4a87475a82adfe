import { FINALIZER } from '#domain';
import type { Rule } from '../rule.ts';

/** The finalizer stands before the first child, so that no child can outlive its RedisCluster unseen. */
export const addFinalizer: Rule = {
  name: 'add-finalizer',
  decide: ({ view }) => {
    if (view.snapshot.resource.metadata.finalizers?.includes(FINALIZER) === true) return undefined;
    const reason = 'FinalizerMissing';
    const message = 'Holding the object until its children are taken care of.';
    return { reason, message, actions: [{ kind: 'AddFinalizer', reason, message, disruptive: false }] };
  },
};
