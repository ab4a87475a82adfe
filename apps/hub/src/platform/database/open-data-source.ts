/** Opens a pool of connections with what every transaction of the hub relies on. */
import pg from 'pg';
import { DataSource, type MixedList } from 'typeorm';

import type { DatabaseSockets } from './database-sockets.ts';
import { endSilentConnection } from './end-silent-connection.ts';
import type { JobLimits } from './job-line.ts';
import type { LineageGuard } from './lineage-guard.ts';
import { runHintsAfterCommit } from './after-commit.ts';
import { parseTimestamp } from './parse-timestamp.ts';
import { PoolConnections, type PoolRenewal } from './pool-renewal.ts';
import { shareConnections } from './shared-pool.ts';

const INT8_OID = 20;
/** One forgotten transaction would stop every reader of change_log, which reads below pg_snapshot_xmin (03). */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
/** For a connection of the pool, the wait in line for one included: a burst is worked off, not refused. */
const POOL_TIMEOUT_MS = 20_000;

/** int8 arrives as text from pg; every int8 of ours counts from 0 and stays a safe integer. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} is not a safe integer`);
  return value;
}

export interface Schema {
  readonly migrations: MixedList<new () => object>;
  readonly entities: MixedList<new () => object>;
}

export interface PoolOptions {
  /** Of this replica. */
  readonly name: string;
  /** Default: the pool by which replicas count each other, see SessionRepository. */
  readonly use?: 'api' | 'access';
  readonly sockets: DatabaseSockets;
  readonly renewal?: PoolRenewal;
  readonly size: number;
  /** A statement that lasts longer is ended by the database. Default: none is. */
  readonly statementTimeoutMs?: number;
  /** Connections are taken by turns of their users. Default: first come, first served. */
  readonly jobs?: JobLimits;
}

export async function openDataSource(
  databaseUrl: string,
  schema: Schema,
  pool: PoolOptions,
  guard: LineageGuard,
): Promise<DataSource> {
  const connections = new PoolConnections();
  const dataSource = new DataSource({
    type: 'postgres',
    ...(pool.jobs ? { driver: shareConnections(pool.jobs) } : {}),
    entities: schema.entities as never,
    migrations: schema.migrations as never,
    applicationName: `atoll-hub${pool.use ? `-${pool.use}` : ''} ${pool.name}`.slice(0, 63),
    extra: {
      connectionString: databaseUrl,
      stream: pool.sockets.make,
      max: pool.size,
      statement_timeout: pool.statementTimeoutMs ?? false,
      verify: (client: pg.Client, done: (error?: Error) => void) => {
        endSilentConnection(client);
        connections.add(client);
        guard.verify(client, done);
      },
      // Statements of ours are short: compiling one to machine code takes longer than running it.
      options: '-c jit=off',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      connectionTimeoutMillis: POOL_TIMEOUT_MS,
    },
  });
  await dataSource.initialize();
  connections.watch((dataSource.driver as unknown as { readonly master: pg.Pool }).master);
  pool.renewal?.include(connections);
  pg.types.setTypeParser(INT8_OID, parseInt8);
  pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);
  runHintsAfterCommit(dataSource);
  return dataSource;
}
