/** Work for the fleet as a whole, done by whichever replica has the claim: liveness, roll-up, trimming the outbox. */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';

import { appendChanges } from '../../platform/database/change-log.ts';
import { ClaimedWorker } from '../../platform/database/claimed-worker.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { trimIdempotencyKeys } from '../audit/index.ts';
import { foldFleet } from './fold-fleet.ts';
import { LivenessWork } from './liveness.work.ts';
import { trimOutbox } from './trim-outbox.ts';

const LIVENESS_MS = 1_000;
const FOLD_MS = 500;
const TRIM_MS = 60_000;
/** The subject of changes to the fleet as a whole. */
const FLEET_SUBJECT = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class FleetWorkers implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #workers: readonly ClaimedWorker[];

  constructor(@Inject(RUNTIME) runtime: HubRuntime) {
    const { dataSource } = runtime;
    const log = runtime.log.child({ part: 'fleet' });
    const liveness = new LivenessWork();
    this.#workers = [
      {
        name: 'liveness' as const,
        intervalMs: LIVENESS_MS,
        work: async (tx: Parameters<typeof foldFleet>[0]) => {
          for (const verdict of await liveness.look(tx)) log.info(verdict, 'freshness of an agent changed');
        },
      },
      {
        name: 'fold' as const,
        intervalMs: FOLD_MS,
        work: async (tx: Parameters<typeof foldFleet>[0]) => {
          if ((await foldFleet(tx)) === 0) return;
          await appendChanges(tx, Date.now(), [{ topic: 'fleet', subject: FLEET_SUBJECT, kind: 'CHANGED' }]);
        },
      },
      {
        name: 'outbox' as const,
        intervalMs: TRIM_MS,
        work: async (tx: Parameters<typeof foldFleet>[0]) => {
          await trimOutbox(tx);
          await trimIdempotencyKeys(tx);
        },
      },
    ].map((work) => new ClaimedWorker(dataSource, work, log));
  }

  onApplicationBootstrap(): void {
    for (const worker of this.#workers) worker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}
