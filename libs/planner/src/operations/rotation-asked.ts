/**
 * The rotation that a RedisOperation asks for. Invariant: one operation causes one new version of the credentials: the
 * uid of the operation is written on the Secret together with that version, so a pass after a kill does not rotate again.
 */
import { ANNOTATION } from '#domain';
import type { RedisOperationObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { findActiveOperation } from './open-operations.ts';

export interface RotationAsked {
  /** To be written as annotation ANNOTATION.rotationOperation on the credentials Secret with the new version. */
  readonly uid: string;
  /** undefined: all. */
  readonly users: readonly string[] | undefined;
}

/** undefined when none is asked for, or the Secret shows that it was begun: the rest follows from the Secret. */
export const rotationAsked = (view: ClusterView): RotationAsked | undefined => {
  const operation = findActiveOperation(view);
  if (operation?.spec.type !== 'RotateCredentials' || operation.status?.phase !== 'Running') return undefined;
  if (operation.spec.cancel === true || wasRotatedFor(view, operation)) return undefined;
  return { uid: operation.metadata.uid ?? '', users: operation.spec.rotateCredentials?.users };
};

export const wasRotatedFor = (view: ClusterView, operation: RedisOperationObject): boolean =>
  findChild(view.snapshot, 'Secret', view.names.credentialsSecret)?.metadata.annotations?.[
    ANNOTATION.rotationOperation
  ] === operation.metadata.uid;
