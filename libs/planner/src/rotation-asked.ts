/**
 * The rotation that a RedisOperation asks for. Invariant: one operation causes one new version of the credentials: its
 * uid is written on the Secret together with the coming passwords, so a pass after a kill does not rotate again.
 */
import { isOperationOver } from '#domain';
import { CREDENTIALS_ANNOTATION } from '#manifests';
import type { ClusterView } from './cluster-view.ts';
import { findChild } from './find-child.ts';

export interface RotationAsked {
  readonly uid: string;
  /** undefined: all. */
  readonly users: readonly string[] | undefined;
}

export const rotationAsked = ({ snapshot, names }: ClusterView): RotationAsked | undefined => {
  const secret = findChild(snapshot, 'Secret', names.credentialsSecret);
  const begun = secret?.metadata.annotations?.[CREDENTIALS_ANNOTATION.rotatedFor];
  const operation = (snapshot.operations ?? []).find(
    ({ spec, status, metadata }) =>
      spec.type === 'RotateCredentials' &&
      !isOperationOver(status?.phase) &&
      spec.cancel !== true &&
      metadata.uid !== begun,
  );
  if (operation?.metadata.uid === undefined) return undefined;
  return { uid: operation.metadata.uid, users: operation.spec.rotateCredentials?.users };
};
