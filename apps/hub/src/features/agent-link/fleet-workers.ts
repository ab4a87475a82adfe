/** Work for the fleet as a whole, done by whichever replica has the claim: liveness, roll-up, trimming the outbox. */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';

import { afterCommit } from '../../platform/database/after-commit.ts';
import { ClaimedWorker } from '../../platform/database/claimed-worker.ts';
import { SetApart } from '../../platform/database/set-apart.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { systemClock } from '../../platform/lifecycle/time-and-ids.ts';
import { trimIdempotencyKeys } from '../audit/index.ts';
import { FoldWork } from './rollups/fold.work.ts';
import { LivenessWork } from './liveness/liveness.work.ts';
import { trimEvents } from './status/agent-limits.repository.ts';
import { trimOutbox } from './desired/trim-outbox.ts';

const LIVENESS_MS = 1_000;
/** Agents of one flush of heartbeats fall due together; others are looked at together within this time. */
const SOONEST_LOOK_MS = 100;
/** Verdicts of one look that are logged one by one. */
const TOLD_EACH = 50;
const FOLD_MS = 500;
const TRIM_MS = 60_000;

@Injectable()
export class FleetWorkers implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #workers: readonly ClaimedWorker[];

  constructor(@Inject(RUNTIME) runtime: HubRuntime) {
    const { dataSource, metrics } = runtime;
    const log = runtime.log.child({ part: 'fleet' });
    const fold = createFold(dataSource, log);
    const setApart = (work: string): SetApart =>
      new SetApart({ work, log, metrics, nowMs: () => systemClock.monotonicMs() });
    const liveness = createLiveness(dataSource, log, { fold, apart: setApart('liveness') });
    const outbox = createTrim(dataSource, log, setApart('outbox'));
    this.#workers = [liveness, fold, outbox, createEventTrim(dataSource, log, setApart('events'))];
  }

  onApplicationBootstrap(): void {
    for (const worker of this.#workers) worker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}

/** A verdict changes counts, so it has them folded at once. */
function createLiveness(
  dataSource: DataSource,
  log: Logger,
  { fold, apart }: { readonly fold: ClaimedWorker; readonly apart: SetApart },
): ClaimedWorker {
  const liveness = new LivenessWork(apart);
  const look = async (tx: EntityManager): Promise<number | undefined> => {
    const { verdicts, dueInMs } = await liveness.look(tx);
    for (const verdict of verdicts.slice(0, TOLD_EACH)) log.info(verdict, 'freshness of an agent changed');
    if (verdicts.length > TOLD_EACH) log.info({ agents: verdicts.length }, 'freshness of many agents changed');
    if (verdicts.length > 0) afterCommit(tx, 'fold', () => fold.nudge());
    return dueInMs === null ? undefined : Math.max(dueInMs, SOONEST_LOOK_MS);
  };
  return new ClaimedWorker(dataSource, { name: 'liveness', intervalMs: LIVENESS_MS, work: look }, log);
}

function createFold(dataSource: DataSource, log: Logger): ClaimedWorker {
  const fold = new FoldWork(log);
  const work = (tx: EntityManager): Promise<number | undefined> => fold.tick(tx, systemClock.nowMs());
  return new ClaimedWorker(dataSource, { name: 'health', intervalMs: FOLD_MS, work }, log);
}

function createTrim(dataSource: DataSource, log: Logger, apart: SetApart): ClaimedWorker {
  const work = async (tx: EntityManager): Promise<void> => {
    await trimOutbox(tx, apart);
    await trimIdempotencyKeys(tx, apart);
  };
  return new ClaimedWorker(dataSource, { name: 'outbox', intervalMs: TRIM_MS, work }, log);
}

/** Apart from the other trims: one that fails must not keep these from their work. */
function createEventTrim(dataSource: DataSource, log: Logger, apart: SetApart): ClaimedWorker {
  const work = async (tx: EntityManager): Promise<void> => void (await trimEvents(tx, apart));
  return new ClaimedWorker(dataSource, { name: 'events', intervalMs: TRIM_MS, work }, log);
}
