/** Watches the database of a replica: whether it commits, takes writes, and is still the primary. */
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';

import type { DatabaseSockets } from '../database/database-sockets.ts';
import type { LineageGuard } from '../database/lineage-guard.ts';
import { onFailedStatement } from '../database/on-failed-statement.ts';
import type { PoolRenewal } from '../database/pool-renewal.ts';
import { ProbeConnection } from '../database/probe-connection.ts';
import { AwakeClock } from './awake-clock.ts';
import { CommitWatch } from './commit-watch.ts';
import { OutageWatch } from './outage-watch.ts';
import { systemClock } from './time-and-ids.ts';

export interface WatchedDatabase {
  readonly dataSource: DataSource;
  readonly databaseUrl: string;
  readonly sockets: DatabaseSockets;
  readonly guard: LineageGuard;
  readonly renewal: PoolRenewal;
  readonly log: Logger;
}

export interface DatabaseWatch {
  readonly commits: CommitWatch;
  readonly outages: OutageWatch;
  readonly awake: AwakeClock;
  /** A small commit. */
  readonly probe: () => Promise<void>;
  /** A connection of the pool leads to a standby. */
  readonly onStandby: () => void;
  /** One leads to another database than is known. */
  readonly onStray: () => void;
  /** Begins to look by itself. */
  start(): void;
  close(): Promise<void>;
}

export function watchDatabase({
  dataSource,
  databaseUrl,
  sockets,
  guard,
  renewal,
  log,
}: WatchedDatabase): DatabaseWatch {
  const awake = new AwakeClock(() => systemClock.monotonicMs());
  const nowMs = (): number => awake.nowMs();
  const probes = new ProbeConnection(databaseUrl, sockets, guard);
  const outages = new OutageWatch({ log, nowMs, probe: () => probes.probeRoom(), onReadOnly: () => renewal.renew() });
  const commits = new CommitWatch({ log, nowMs });
  const probe = (): Promise<void> => probes.probe();
  const probeAndTell = (): Promise<void> =>
    probe().catch((error: unknown) => {
      outages.found(error);
      throw error;
    });
  const ends = [onFailedStatement(dataSource, (error) => outages.note(error))];
  return {
    commits,
    outages,
    awake,
    probe,
    onStandby: () => outages.note(Object.assign(new Error('the database is a standby'), { code: '25006' })),
    onStray: () => renewal.renew(),
    start: () => void ends.push(awake.start(log), outages.start(), commits.start(probeAndTell)),
    close: async () => {
      for (const end of ends) end();
      await probes.close();
    },
  };
}
