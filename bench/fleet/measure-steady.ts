/** What a connected fleet costs while nothing happens, and what of it lies in PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT_INTERVAL_MS } from '#domain';
import type { FleetStage } from './fleet-stage.ts';
import { readMetrics } from './read-metrics.ts';
import { sampleUsage, type Span } from './usage-sampler.ts';

/** Two heartbeats of every agent. */
const WATCH_MS = 2 * HEARTBEAT_INTERVAL_MS;

export interface Steady {
  readonly span: Span;
  readonly walBytesPerSecond: number;
  readonly hubRssMib: number;
  readonly hubHeapMib: number;
  readonly hubExternalMib: number;
  readonly eventLoopP99Ms: number;
  readonly databaseMib: number;
  /** Largest tables with their indexes, in MiB. */
  readonly tables: Readonly<Record<string, number>>;
}

export async function measureSteady(stage: FleetStage, settleMs: number): Promise<Steady> {
  await sleep(settleMs);
  // The lag is that since the metrics were read last: without this it would be that of all agents connecting at once.
  await readMetrics(stage.hub());
  const { span, walBytesPerSecond } = await measureWhile(stage, () => sleep(WATCH_MS));
  const metrics = await readMetrics(stage.hub());
  const mib = (name: string): number => (metrics.get(name) ?? 0) / 1024 / 1024;
  return {
    span,
    walBytesPerSecond,
    hubRssMib: span.end.hub.rssMib,
    hubHeapMib: mib('nodejs_heap_size_used_bytes'),
    hubExternalMib: mib('nodejs_external_memory_bytes'),
    eventLoopP99Ms: (metrics.get('nodejs_eventloop_lag_p99_seconds') ?? 0) * 1000,
    ...(await measureStorage(stage)),
  };
}

/** Usage and written WAL while the work runs. */
export async function measureWhile<T>(
  stage: FleetStage,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly span: Span; readonly walBytesPerSecond: number }> {
  const from = await readWalPosition(stage);
  const sampler = sampleUsage(stage);
  const result = await work();
  const span = sampler.end();
  const written = (await readWalPosition(stage)) - from;
  return { result, span, walBytesPerSecond: written / span.seconds };
}

async function readWalPosition({ database }: FleetStage): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`,
  );
  return Number(rows[0]?.bytes ?? 0);
}

async function measureStorage({ database }: FleetStage): Promise<Pick<Steady, 'databaseMib' | 'tables'>> {
  const size = await database.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  const tables = await database.query<{ name: string; bytes: string }>(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes FROM pg_class AS c
     JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'public'
     WHERE c.relkind = 'r' ORDER BY 2 DESC LIMIT 8`,
  );
  const toMib = (bytes: string | undefined): number => Number(bytes ?? 0) / 1024 / 1024;
  return {
    databaseMib: toMib(size.rows[0]?.bytes),
    tables: Object.fromEntries(tables.rows.map(({ name, bytes }) => [name, Math.round(toMib(bytes) * 10) / 10])),
  };
}
