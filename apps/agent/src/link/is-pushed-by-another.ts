/**
 * True for what another agent of this member cluster applied for its hub: a cluster-wide agent sees the objects of a
 * namespaced one, and counted among its own they would make every digest differ. An object without the annotation, as
 * release 0.1.0 made them, counts as ours; so does what no hub has pushed.
 */
import { ANNOTATION, formatScopeOwner } from '#domain';
import type { KubeObject, Scope } from '#domain';

export const isPushedByAnother = (object: KubeObject, scope: Scope): boolean => {
  const { [ANNOTATION.hubUid]: hubUid, [ANNOTATION.pushedBy]: pushedBy } = object.metadata.annotations ?? {};
  return hubUid !== undefined && pushedBy !== undefined && pushedBy !== formatScopeOwner(scope);
};
