/**
 * Volumes grow to the wanted size: each claim is asked for more, then the StatefulSet is orphaned (its pods run on) and
 * made anew by apply-children, since its claim template cannot be changed and new pods must get the size. Last and alone
 * in a plan: a StorageClass that refuses must not hold up a repair.
 */
import type { Action, KubeObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { findSmallClaims, growsStorage } from '../shape/step-storage.ts';
import { waitFor } from '../rule.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

export const growVolumes: Rule = {
  name: 'grow-volumes',
  decide: ({ view, primary, planned }) => {
    if (!view.specUsable || planned.length > 0 || view.wanted.storage.type !== 'PersistentVolume') return undefined;
    const small = findSmallClaims(view);
    if (small.length > 0) {
      const message = `${small.map(({ metadata }) => metadata.name).join(', ')} grow to ${view.wanted.storage.size ?? ''}.`;
      return { ...waitFor('GrowingVolumes', message), actions: small.map((claim) => grow(view, claim)) };
    }
    if (!growsStorage(view) || (primary === undefined && view.dataPods.length > 0)) return undefined;
    return orphan(view);
  },
};

const orphan = (view: ClusterView): RuleOutcome | undefined => {
  const { metadata } = findChild(view.snapshot, 'StatefulSet', view.names.redis) ?? {};
  if (metadata?.uid === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const reason = 'GrowingVolumes';
  const message = `StatefulSet ${metadata.name} is made anew with the bigger volumes; its pods run on.`;
  const key = { namespace: view.key.namespace, name: metadata.name };
  const action: Action = { kind: 'OrphanStatefulSet', key, uid: metadata.uid, reason, message, disruptive: false };
  return { ...waitFor(reason, message), actions: [action] };
};

const grow = (view: ClusterView, { metadata }: KubeObject): Action => ({
  kind: 'GrowVolume',
  key: { namespace: view.key.namespace, name: metadata.name },
  uid: metadata.uid ?? '',
  size: view.wanted.storage.size ?? '',
  reason: 'GrowingVolumes',
  message: `Claim ${metadata.name} asks for ${view.wanted.storage.size ?? ''}.`,
  disruptive: false,
});
