import type { Clock } from '#domain';
import type { Dialect } from '#protocol';

import type { Metrics } from '../../platform/telemetry/metrics.ts';
import type { DeliveryBook } from './delivery-book.ts';
import type { DesiredRepository } from './desired.repository.ts';
import type { EnrolmentRepository } from './enrolment.repository.ts';
import type { EventIngest } from './event-ingest.ts';
import type { HandshakeService } from './handshake.service.ts';
import type { InventoryRecorder } from './inventory-recorder.ts';
import type { InventoryRepository } from './inventory.repository.ts';
import type { SeenRecorder } from './seen-recorder.ts';
import type { SessionRepository } from './session.repository.ts';
import type { StatusIngest } from './status-ingest.ts';
import type { Turns } from './turns.ts';

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
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** What this hub speaks, newest first. */
  readonly dialects: readonly Dialect[];
}
export const LINK_PARTS = Symbol('LINK_PARTS');
