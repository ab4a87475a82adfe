/** Which messages exist in each direction, and the envelope they travel in: `{type, nonce, payload}`; a nonce pairs an answer. */
import type { Enrol, EnrolPending, Enrolled, KeyAccepted, KeyRotation } from './identity-messages.ts';
import type {
  Challenge,
  Delta,
  DesiredAck,
  Empty,
  EventAck,
  EventBatch,
  Heartbeat,
  Hello,
  InventoryChunk,
  Reconnect,
  Refused,
  Slow,
  SnapshotBegin,
  SnapshotChunk,
  SnapshotEnd,
  StatusAck,
  StatusBatch,
  UpgradeRequired,
  Welcome,
} from './messages.ts';

export interface AgentPayloads {
  readonly Hello: Hello;
  readonly DesiredAck: DesiredAck;
  readonly StatusBatch: StatusBatch;
  readonly Heartbeat: Heartbeat;
  readonly InventoryChunk: InventoryChunk;
  readonly EventBatch: EventBatch;
  readonly Enrol: Enrol;
  readonly KeyRotation: KeyRotation;
}

export interface HubPayloads {
  readonly Challenge: Challenge;
  readonly Welcome: Welcome;
  readonly SnapshotBegin: SnapshotBegin;
  readonly SnapshotChunk: SnapshotChunk;
  readonly SnapshotEnd: SnapshotEnd;
  readonly Delta: Delta;
  readonly StatusAck: StatusAck;
  readonly EventAck: EventAck;
  readonly StatusResync: Empty;
  readonly Slow: Slow;
  readonly Reconnect: Reconnect;
  readonly Drain: Reconnect;
  readonly EnrolPending: EnrolPending;
  readonly Enrolled: Enrolled;
  readonly Refused: Refused;
  readonly KeyAccepted: KeyAccepted;
  readonly UpgradeRequired: UpgradeRequired;
}

type Envelope<P> = {
  readonly [T in keyof P]: { readonly type: T; readonly nonce: string; readonly payload: P[T] };
}[keyof P];
export type AgentMessage = Envelope<AgentPayloads>;
export type HubMessage = Envelope<HubPayloads>;
