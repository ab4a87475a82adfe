/**
 * The definition of RedisClusters itself is being deleted: its objects go with it, and that says nothing about the
 * data. The finalizer is let go and every child is left running (04). Without this gate `kubectl delete crd` would take
 * every Redis of the cluster with it.
 */
import { FINALIZER } from '#domain';
import type { Rule } from '../rule.ts';

export const gateTerminatingDefinition: Rule = {
  name: 'gate-terminating-definition',
  decide: ({ view: { snapshot } }) => {
    if (!snapshot.crdTerminating) return undefined;
    const message = 'The CRD is being deleted: the object is let go, and everything it made runs on.';
    const held = snapshot.resource.metadata.finalizers?.includes(FINALIZER) === true;
    return {
      reason: 'DefinitionTerminating',
      message,
      halt: true,
      ...(held
        ? { actions: [{ kind: 'RemoveFinalizer', reason: 'DefinitionTerminating', message, disruptive: false }] }
        : {}),
    };
  },
};
