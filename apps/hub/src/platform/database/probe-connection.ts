/**
 * Asks the database for a small commit, on a connection of its own. For one of the pool it might have to wait behind statements
 * that are many or wait for a lock, and that wait would look like a database that does not commit. Opened when it is first
 * needed, kept, and opened again after it was lost. One commit at a time: who asks meanwhile gets the answer to that one.
 *
 * It writes to the log of the database, by whose length a restored one is told from the one before: so the lineage is looked at
 * first on each new connection, as in the pool.
 */
import pg from 'pg';

import type { DatabaseSockets } from './database-sockets.ts';
import { endSilentConnection } from './end-silent-connection.ts';
import type { LineageGuard } from './lineage-guard.ts';

/** A transaction that has to reach the disk: a record of the write-ahead log, and no row. */
const PROBE = `SELECT pg_logical_emit_message(true, 'atoll', 'probe')`;
const CONNECT_TIMEOUT_MS = 20_000;
const FAREWELL_TIMEOUT_MS = 1_000;
/** Nobody asks while others commit: then it may be silent. */
const FOR_EVER_MS = 0;

export class ProbeConnection {
  readonly #databaseUrl: string;
  readonly #sockets: DatabaseSockets;
  readonly #guard: LineageGuard;
  #client: pg.Client | undefined;
  #asking: Promise<void> | undefined;
  #isClosed = false;

  constructor(databaseUrl: string, sockets: DatabaseSockets, guard: LineageGuard) {
    this.#databaseUrl = databaseUrl;
    this.#sockets = sockets;
    this.#guard = guard;
  }

  /** Resolves after the commit. Rejects when the database refuses, goes, or has not answered for half a minute. */
  probe(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
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

  async #ask(): Promise<void> {
    if (this.#isClosed) throw new Error('the replica has stopped');
    const isNew = this.#client === undefined;
    const client = (this.#client ??= this.#make());
    try {
      if (isNew) await this.#open(client);
      endSilentConnection(client);
      await client.query(PROBE);
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
