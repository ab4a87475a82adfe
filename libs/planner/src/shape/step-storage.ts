/**
 * The StatefulSet's claim template follows when every volume was asked to grow (grow-volumes): it cannot be changed in
 * place, so the StatefulSet is orphaned and made anew, and only then is the new size rendered.
 */
import { parseQuantity } from '#domain';
import type { KubeObject } from '#domain';
import { podName, volumeClaimName } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

interface ClaimFields {
  readonly spec?: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
}

export const stepStorage = ({ view }: ShapeContext): ShapeStep => {
  if (!growsStorage(view)) return { change: {} };
  return hold('GrowingVolumes', `The volumes grow to ${view.wanted.storage.size ?? ''}.`);
};

/** The wanted size is above the one in the StatefulSet. */
export const growsStorage = ({ live, wanted }: ClusterView): boolean =>
  live.storage?.type === 'PersistentVolume' && isBelow(live.storage.size, wanted.storage.size);

/** Claims of the data pods that ask for less than is wanted. */
export const findSmallClaims = (view: ClusterView): readonly KubeObject[] =>
  Array.from({ length: view.spec.size }, (_, ordinal) => volumeClaimName(podName(view.names.redis, ordinal)))
    .map((name) => findChild(view.snapshot, 'PersistentVolumeClaim', name))
    .filter((claim) => claim !== undefined)
    .filter((claim) => isBelow((claim as ClaimFields).spec?.resources?.requests?.storage, view.wanted.storage.size));

const isBelow = (size: string | undefined, goal: string | undefined): boolean => {
  const [is, wanted] = [parseQuantity(size ?? ''), parseQuantity(goal ?? '')];
  return is !== undefined && wanted !== undefined && is < wanted;
};
