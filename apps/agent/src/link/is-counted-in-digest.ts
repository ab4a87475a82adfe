/**
 * Which managed objects the spec digest covers: all but the UNCLAIMED ones. UNCLAIMED is what a verified snapshot lacked,
 * and what was deleted before and has come back (a restored member cluster); an object whose deletion is still on its
 * way counts, since the hub counts it until it hears DELETED.
 */
import type { AgentState } from './agent-state.ts';
import type { ManagedObject } from './managed-index.ts';

export const isCountedInDigest =
  (state: AgentState, isWaiting: (hubUid: string) => boolean) =>
  (object: ManagedObject): boolean =>
    !isUnclaimed(state, object) || isWaiting(object.hubUid);

export const isUnclaimed = (
  state: AgentState,
  { hubUid, terminating }: Pick<ManagedObject, 'hubUid' | 'terminating'>,
): boolean => state.unclaimed.has(hubUid) || (state.tombstones.has(hubUid) && !terminating);
