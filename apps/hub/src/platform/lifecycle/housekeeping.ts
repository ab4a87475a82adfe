/** Slow chores of a running replica: partitions ahead of time (one replica), and the certificate of its listeners (each). */
import type { Server } from 'node:https';
import type { EntityManager } from 'typeorm';

import type { TlsChange } from '../tls/tls-material.ts';
import { ClaimedWorker } from '../database/claimed-worker.ts';
import { DatabaseBudget } from '../database/database-budget.ts';
import { onMissingPartition } from '../database/missing-partition.ts';
import { PartitionKeeper } from '../database/partition-keeper.ts';
import type { HubRuntime } from './hub-runtime.ts';
import { systemClock } from './time-and-ids.ts';

const PARTITIONS_INTERVAL_MS = 10 * 60_000;
const SIZE_INTERVAL_MS = 60_000;
const CERTIFICATE_INTERVAL_MS = 60_000;

/** `onTlsLook` is told after each look at the certificates. Returns the way to stop it. */
export function startHousekeeping(
  runtime: HubRuntime,
  servers: readonly unknown[],
  onTlsLook: (change: TlsChange) => Promise<void>,
): () => Promise<void> {
  const { dataSource, pools, log, tls, config, metrics } = runtime;
  const keeper = new PartitionKeeper({ dataSource, clock: systemClock, log });
  const work = { name: 'housekeeping', intervalMs: PARTITIONS_INTERVAL_MS } as const;
  const partitions = new ClaimedWorker(dataSource, { ...work, work: (tx) => keeper.keep(tx) }, log);
  const nudge = (): void => void (keeper.isWorthALook && partitions.nudge());
  const listening = [dataSource, pools.api].map((pool) => onMissingPartition(pool, nudge));
  partitions.start();
  const budget = new DatabaseBudget({
    budgetBytes: config.databaseBudgetBytes,
    metrics,
    log,
    monotonicMs: () => systemClock.monotonicMs(),
  });
  const lookAtSize = async (tx: EntityManager): Promise<void> => void (await budget.look(tx));
  const size = new ClaimedWorker(dataSource, { name: 'size', intervalMs: SIZE_INTERVAL_MS, work: lookAtSize }, log);
  size.start();
  // A disk may be full of what is past its keep.
  keeper.dropSoon();
  const look = async (): Promise<void> => {
    const change = await tls.refresh(systemClock.nowMs());
    if (change.served) {
      for (const server of servers as Server[]) server.setSecureContext({ cert: tls.certificate, key: tls.privateKey });
      log.info('the server certificate was renewed');
    }
    await onTlsLook(change);
  };
  let looking = Promise.resolve();
  const lookAgain = (): void => {
    looking = look().catch((error: unknown) =>
      log.error({ err: error }, 'the certificates could not be read or renewed'),
    );
  };
  lookAgain();
  const timer = setInterval(lookAgain, CERTIFICATE_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    for (const stopListening of listening) stopListening();
    await looking;
    await partitions.stop();
    await size.stop();
    await keeper.stop();
  };
}
