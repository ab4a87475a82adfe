import type { Clock } from '#domain';
import type { Dialect } from '#protocol';

import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import type { DeliveryBook } from '../desired/delivery-book.ts';
import type { DesiredRepository } from '../desired/desired.repository.ts';
import type { EnrolmentRepository } from '../sessions/enrolment.repository.ts';
import type { EventIngest } from '../status/event-ingest.ts';
import type { OverLimitTeller } from '../status/over-limit-teller.ts';
import type { HandshakeService } from '../sessions/handshake.service.ts';
import type { InventoryRecorder } from '../sessions/inventory-recorder.ts';
import type { InventoryRepository } from '../desired/inventory.repository.ts';
import type { SeenRecorder } from '../liveness/seen-recorder.ts';
import type { SessionRepository } from '../sessions/session.repository.ts';
import type { StatusIngest } from '../status/status-ingest.ts';
import type { Turns } from '../desired/turns.ts';
import type { FrameBudgets } from './frame-budget.ts';

/** What every connection of a replica works with. */
export interface LinkParts {
  readonly handshake: HandshakeService;
  readonly enrolments: EnrolmentRepository;
  readonly sessions: SessionRepository;
  readonly desired: DesiredRepository;
  readonly book: DeliveryBook;
  readonly inventory: InventoryRepository;
  readonly status: StatusIngest;
  readonly events: EventIngest;
  readonly seen: SeenRecorder;
  readonly inventories: InventoryRecorder;
  /** For what one agent alone asks of the database. */
  readonly turns: Turns;
  /** How fast each agent is read. */
  readonly frameBudgets: FrameBudgets;
  readonly byteBudgets: FrameBudgets;
  readonly overLimit: OverLimitTeller;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** What this hub speaks, newest first. */
  readonly dialects: readonly Dialect[];
}
export const LINK_PARTS = Symbol('LINK_PARTS');
