/** Slow chores of a running replica: partitions ahead of time (one replica), and the certificate of its listeners (each). */
import type { Server } from 'node:https';

import { ClaimedWorker } from '../database/claimed-worker.ts';
import { maintainPartitions } from '../database/partitions.ts';
import type { HubRuntime } from './hub-runtime.ts';
import { systemClock } from './time-and-ids.ts';

const PARTITIONS_INTERVAL_MS = 10 * 60_000;
const CERTIFICATE_INTERVAL_MS = 60_000;

/** Returns the way to stop it. */
export function startHousekeeping(runtime: HubRuntime, servers: readonly unknown[]): () => Promise<void> {
  const { dataSource, log, tls } = runtime;
  const work = { name: 'housekeeping', intervalMs: PARTITIONS_INTERVAL_MS } as const;
  const partitions = new ClaimedWorker(
    dataSource,
    { ...work, work: (tx) => maintainPartitions(tx, systemClock.nowMs()) },
    log,
  );
  partitions.start();
  const timer = setInterval(() => {
    tls.refresh(systemClock.nowMs()).then(
      (changed) => {
        if (!changed) return;
        for (const server of servers as Server[]) {
          server.setSecureContext({ cert: tls.certificate, key: tls.privateKey });
        }
        log.info('the server certificate was renewed');
      },
      (error: unknown) => log.error({ err: error }, 'the server certificate could not be read or renewed'),
    );
  }, CERTIFICATE_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await partitions.stop();
  };
}
