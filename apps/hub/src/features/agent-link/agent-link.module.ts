import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#domain';
import { type Dialect, SPOKEN_DIALECTS } from '#protocol';
import { Module } from '@nestjs/common';

import { DEFAULT_POOL_SIZES } from '../../platform/database/pool-sizes.ts';
import { SetApart } from '../../platform/database/set-apart.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { AgeWatch } from './age-watch.ts';
import { AgentListener } from './connections/agent-listener.ts';
import { DeleteLimitsTeller, readDeleteLimits } from './desired/delete-limits.ts';
import { DeliveryBook } from './desired/delivery-book.ts';
import { DesiredRepository } from './desired/desired.repository.ts';
import { EnrolmentRepository } from './sessions/enrolment.repository.ts';
import { EventIngest } from './status/event-ingest.ts';
import { EventRepository } from './status/event.repository.ts';
import { FleetWorkers } from './fleet-workers.ts';
import { BYTES, FRAMES, FrameBudgets, HELLOS } from './connections/frame-budget.ts';
import { HandshakeService } from './sessions/handshake.service.ts';
import { OverLimitTeller } from './status/over-limit-teller.ts';
import { PersonWatch } from './person-watch.ts';
import { InventoryRecorder } from './sessions/inventory-recorder.ts';
import { InventoryRepository } from './desired/inventory.repository.ts';
import { LINK_PARTS, type LinkParts } from './connections/link-parts.ts';
import { LiveSessions } from './connections/live-sessions.ts';
import { NextCaTeller } from './connections/next-ca-teller.ts';
import { SeenRecorder } from './liveness/seen-recorder.ts';
import { SessionRepository } from './sessions/session.repository.ts';
import type { StatusWriter } from './status/status-entry.ts';
import { StatusIngest } from './status/status-ingest.ts';
import { StatusRepository } from './status/status.repository.ts';
import { Turns } from './desired/turns.ts';

/** Of the connections of the pool: the others are for common commits and for workers. */
const SHARE_OF_TURNS = 2 / 3;
/** An agent waits 20 s for its Welcome. */
const MAX_HELLO_WAIT_MS = 10_000;

function createLinkParts(
  runtime: HubRuntime,
  clock: Clock,
  sessions: SessionRepository,
  desired: DesiredRepository,
): LinkParts {
  const { dataSource, log, metrics, readiness } = runtime;
  const poolSize = (runtime.config.databasePools ?? DEFAULT_POOL_SIZES).link;
  const enrolments = new EnrolmentRepository(dataSource);
  const statusLog = log.child({ part: 'status' });
  const overLimit = new OverLimitTeller({ dataSource, metrics, log: statusLog, nowMs: () => clock.nowMs() });
  const noteOverLimit = overLimit.note.bind(overLimit);
  const statuses = new StatusRepository(dataSource, clock, noteOverLimit);
  const writer: StatusWriter = {
    commit: (entries) => readiness.commits.watch('STATUS', () => statuses.commit(entries)),
    noteUnstored: (agentId, objects, reason) => statuses.noteUnstored(agentId, objects, reason),
  };
  const setApart = (work: string): SetApart =>
    new SetApart({ work, log: statusLog, metrics, nowMs: () => clock.monotonicMs() });
  const dialects = (runtime.config.dialects as readonly Dialect[] | undefined) ?? SPOKEN_DIALECTS;
  return {
    handshake: new HandshakeService({ sessions, enrolments, clock, dialects, turnOf: createHelloTurns(clock) }),
    enrolments,
    sessions,
    desired,
    book: new DeliveryBook(dataSource),
    inventory: new InventoryRepository(dataSource),
    status: new StatusIngest(writer, metrics, statusLog),
    events: new EventIngest(new EventRepository(dataSource, noteOverLimit), statusLog, metrics),
    seen: new SeenRecorder(dataSource, statusLog, setApart('heartbeats')),
    inventories: new InventoryRecorder({
      write: (notes) => sessions.setInventories(notes),
      nowMs: () => clock.monotonicMs(),
      log: statusLog,
      apart: setApart('inventories'),
    }),
    turns: new Turns(Math.max(1, Math.floor(poolSize * SHARE_OF_TURNS))),
    frameBudgets: new FrameBudgets(FRAMES),
    byteBudgets: new FrameBudgets(BYTES),
    overLimit,
    metrics,
    clock,
    dialects,
  };
}

/** Hellos of one agent that comes back without end wait for their turn, whatever the connection. */
function createHelloTurns(clock: Clock): (agentId: string) => Promise<boolean> {
  const budgets = new FrameBudgets(HELLOS);
  return async (agentId) => {
    const waitMs = budgets.take(agentId, 1, clock.monotonicMs(), MAX_HELLO_WAIT_MS);
    if (waitMs > 0 && waitMs < Infinity) await sleep(waitMs);
    return waitMs < Infinity;
  };
}

@Module({
  providers: [
    {
      provide: SessionRepository,
      inject: [RUNTIME],
      useFactory: (runtime: HubRuntime) => new SessionRepository(runtime.dataSource, runtime.replica),
    },
    {
      provide: DesiredRepository,
      inject: [RUNTIME],
      useFactory: ({ dataSource, config, isLineageKnown }: HubRuntime) =>
        new DesiredRepository(dataSource, {
          readLimits: (tx) => readDeleteLimits(tx, config.deleteLimits),
          isLineageKnown,
        }),
    },
    {
      provide: LINK_PARTS,
      inject: [RUNTIME, CLOCK, SessionRepository, DesiredRepository],
      useFactory: createLinkParts,
    },
    LiveSessions,
    AgentListener,
    FleetWorkers,
    NextCaTeller,
    PersonWatch,
    AgeWatch,
    DeleteLimitsTeller,
  ],
  exports: [AgentListener, NextCaTeller],
})
export class AgentLinkModule {}
