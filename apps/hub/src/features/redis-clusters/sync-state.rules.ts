/**
 * One word for how the object in the member cluster compares with what the hub wants, from the delivery, the drift and
 * whether the object is gone. What needs a person comes before what only needs time; an unanswered generation is never
 * shown as in sync.
 */
import type { DeliveryState, TombstoneKind } from '#domain';
import type { SyncState } from './redis-cluster.enums.ts';

export interface SyncFacts {
  readonly deletion: TombstoneKind | null;
  readonly deliveryState: DeliveryState;
  /** The delivery speaks of the current generation. */
  readonly deliveryIsCurrent: boolean;
  /** The last status says that the object is no longer there. */
  readonly gone: boolean;
  /** The agent may create the object: it never existed yet, or it is to be recreated. */
  readonly createAllowed: boolean;
  readonly driftCount: number;
}

export function decideSync(facts: SyncFacts): SyncState {
  if (facts.deletion !== null) return 'DELETING';
  if (facts.gone && !facts.createAllowed) return 'DELETED_LOCALLY';
  const state = facts.deliveryIsCurrent ? facts.deliveryState : 'PENDING';
  const written = state === 'APPLIED' || state === 'CONFLICT';
  if (written && facts.driftCount > 0) return 'DRIFTED';
  return state === 'APPLIED' ? 'IN_SYNC' : state;
}
