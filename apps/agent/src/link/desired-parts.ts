/** What the processing of desired state works with. */
import type { Clock, ObjectKey } from '#domain';
import type { DesiredAck, InventoryChunk } from '#protocol';
import type { AgentStateStore } from './agent-state-store.ts';
import type { Bounds } from './explain-forbidden.ts';
import type { ManagedIndex } from './managed-index.ts';
import type { MemberApi } from './member-api.ts';
import type { Log } from './ports.ts';

export type Alarm = (reason: AlarmReason, message: string, objects: readonly ObjectKey[]) => void;
export type AlarmReason = 'ChangeHeld' | 'DeletesRefused' | 'Unclaimed';

export interface DesiredParts {
  readonly api: MemberApi;
  readonly bounds: Bounds;
  readonly state: AgentStateStore;
  readonly index: ManagedIndex;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Ends with the session. */
  readonly signal: AbortSignal;
  /** `nonce` of the message that is answered; without it the agent speaks on its own account. */
  readonly sendAck: (ack: DesiredAck, nonce?: string) => void;
  /** Something is wrong that a person should look at: at the log, the Events of these objects, and the metrics. */
  readonly alarm: Alarm;
  readonly sendInventory: (chunk: InventoryChunk) => void;
  readonly maxFrameBytes: number;
}
