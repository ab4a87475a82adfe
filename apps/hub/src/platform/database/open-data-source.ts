/** Opens the pool of connections with what every transaction of the hub relies on. */
import pg from 'pg';
import type { Logger } from 'pino';
import { DataSource, type MixedList } from 'typeorm';

import { endSilentConnection } from './end-silent-connection.ts';
import type { LineageGuard } from './lineage-guard.ts';
import { runHintsAfterCommit } from './after-commit.ts';

const INT8_OID = 20;
/** One forgotten transaction would stop every reader of change_log, which reads below pg_snapshot_xmin (03). */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
const POOL_SIZE = 16;
const CONNECT_TIMEOUT_MS = 60_000;
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

export async function openDataSource(
  databaseUrl: string,
  schema: Schema,
  replica: { readonly name: string; readonly log: Logger },
  guard: LineageGuard,
): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'postgres',
    entities: schema.entities as never,
    migrations: schema.migrations as never,
    applicationName: `atoll-hub ${replica.name}`.slice(0, 63),
    extra: {
      connectionString: databaseUrl,
      max: POOL_SIZE,
      verify: (client: pg.Client, done: (error?: Error) => void) => {
        endSilentConnection(client);
        guard.verify(client, done);
      },
      // Statements of ours are short: compiling one to machine code takes longer than running it.
      options: '-c jit=off',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      connectionTimeoutMillis: POOL_TIMEOUT_MS,
    },
  });
  await initialize(dataSource, replica.log);
  pg.types.setTypeParser(INT8_OID, parseInt8);
  runHintsAfterCommit(dataSource);
  return dataSource;
}

/** A database may come up after its hub; what it answers (a wrong password) is final. */
async function initialize(dataSource: DataSource, log: Logger): Promise<void> {
  let told = false;
  for (const end = Date.now() + CONNECT_TIMEOUT_MS; ; await new Promise((done) => setTimeout(done, 500))) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      const { code = '' } = error as { code?: string };
      const mayPass = /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|57P03)$/.test(code);
      if (!mayPass || Date.now() > end) throw error;
      if (!told) log.warn({ code }, 'the database does not answer; it is tried again for a minute');
      told = true;
    }
  }
}
