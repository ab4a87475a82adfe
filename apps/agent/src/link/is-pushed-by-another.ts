/**
 * True for what another agent of this member cluster applied for its hub: a cluster-wide agent sees the objects of a
 * namespaced one, and counted among its own they would make every digest differ. An object without the annotation, as
 * release 0.1.0 made them, counts as ours; so does what no hub has pushed, and a copy that carries its original's annotations.
 */
import { ANNOTATION, formatScopeOwner, hubUidOf } from '#domain';
import type { KubeObject, Scope } from '#domain';

export const isPushedByAnother = (object: KubeObject, scope: Scope): boolean => {
  const pushedBy = object.metadata.annotations?.[ANNOTATION.pushedBy];
  return hubUidOf(object.metadata) !== undefined && pushedBy !== undefined && pushedBy !== formatScopeOwner(scope);
};
