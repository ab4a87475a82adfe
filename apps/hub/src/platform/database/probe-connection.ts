/**
 * Asks the database for a small commit, on a connection of its own. For one of the pool it might have to wait behind statements
 * that are many or wait for a lock, and that wait would look like a database that does not commit. Opened when it is first
 * needed, kept, and opened again after it was lost. One question at a time: who asks the same meanwhile gets the answer to that one.
 *
 * It writes to the log of the database, by whose length a restored one is told from the one before: so the lineage is looked at
 * first on each new connection, as in the pool.
 */
import pg from 'pg';

import type { DatabaseSockets } from './database-sockets.ts';
import { endSilentConnection } from './end-silent-connection.ts';
import type { LineageGuard } from './lineage-guard.ts';

/**
 * A transaction that has to reach the disk: a record of the write-ahead log, and no row. PostgreSQL lets it pass where a
 * transaction may not write a row, so that is asked as well; a standby is read-only in this sense too.
 */
const PROBE = `SELECT CASE WHEN current_setting('transaction_read_only') = 'off'
  THEN pg_logical_emit_message(true, 'atoll', 'probe') END AS written`;
/**
 * What statements of the hub need, and leaves nothing behind: a megabyte of files where the tables lie, and eight of memory. A
 * small commit needs neither, since the log has room beforehand.
 */
const PROBE_ROOM = `BEGIN; SET LOCAL temp_tablespaces = '';
  CREATE TEMPORARY TABLE atoll_room ON COMMIT DROP AS SELECT repeat(md5(n::text), 50) FROM generate_series(1, 700) AS n;
  SELECT length(repeat('x', 8388608)); ROLLBACK`;
const CONNECT_TIMEOUT_MS = 20_000;
const FAREWELL_TIMEOUT_MS = 1_000;
/** Nobody asks while others commit: then it may be silent. */
const FOR_EVER_MS = 0;

export class ProbeConnection {
  readonly #databaseUrl: string;
  readonly #sockets: DatabaseSockets;
  readonly #guard: LineageGuard;
  #client: pg.Client | undefined;
  #committing: Promise<void> | undefined;
  #takingRoom: Promise<void> | undefined;
  #turn: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(databaseUrl: string, sockets: DatabaseSockets, guard: LineageGuard) {
    this.#databaseUrl = databaseUrl;
    this.#sockets = sockets;
    this.#guard = guard;
  }

  /** Resolves after the commit. Rejects when the database refuses, goes, or has not answered for half a minute. */
  probe(): Promise<void> {
    this.#committing ??= this.#inTurn(commit).finally(() => (this.#committing = undefined));
    return this.#committing;
  }

  /** Resolves when the database has room on its disk and in its memory, and takes writes. */
  probeRoom(): Promise<void> {
    this.#takingRoom ??= this.#inTurn((client) => client.query(PROBE_ROOM)).finally(
      () => (this.#takingRoom = undefined),
    );
    return this.#takingRoom;
  }

  /** What is under way fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    // A server that hangs does not answer the farewell either.
    endSilentConnection(client, FAREWELL_TIMEOUT_MS);
    await client.end().catch(() => undefined);
  }

  /** pg queues a second statement for now, and says that it will not for ever. */
  #inTurn(question: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const asked = this.#turn === undefined ? this.#ask(question) : this.#turn.then(() => this.#ask(question));
    const turn = asked
      .catch(() => undefined)
      .then(() => {
        if (this.#turn === turn) this.#turn = undefined;
      });
    this.#turn = turn;
    return asked;
  }

  async #ask(question: (client: pg.Client) => Promise<unknown>): Promise<void> {
    if (this.#isClosed) throw new Error('the replica has stopped');
    const isNew = this.#client === undefined;
    const client = (this.#client ??= this.#make());
    try {
      if (isNew) await this.#open(client);
      endSilentConnection(client);
      await question(client);
      endSilentConnection(client, FOR_EVER_MS);
    } catch (error) {
      this.#forget(client);
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  async #open(client: pg.Client): Promise<void> {
    await client.connect();
    endSilentConnection(client);
    await new Promise<void>((done, failed) => {
      this.#guard.verify(client, (error) => (error ? failed(error) : done()));
    });
  }

  #make(): pg.Client {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      stream: this.#sockets.make,
    });
    // Told by who asks: it fails then.
    client.on('error', () => undefined);
    client.on('end', () => this.#forget(client));
    return client;
  }

  #forget(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
  }
}

async function commit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ written: string | null }>(PROBE);
  if (rows[0]?.written === null) throw Object.assign(new Error('the transaction is read-only'), { code: '25006' });
}
