/**
 * The one connection that carries hints between replicas. Lost hints are allowed (each receiver polls), a lost
 * connection is not noticed by anyone else: it is opened again for as long as the hub runs.
 */
import type { Logger } from 'pino';
import pg from 'pg';

import type { DatabaseSockets } from './database-sockets.ts';
import { endSilentConnection } from './end-silent-connection.ts';
import type { SignalChannel, Signals } from './signals.ts';

const CHANNEL = 'atoll';
const MERGE_MS = 20;
const RECONNECT_MS = 1_000;
/** Nothing needs to be hinted for hours; an answer to this shows that somebody is there. */
const ASK_MS = 10_000;
const CONNECT_TIMEOUT_MS = 20_000;
const FAREWELL_TIMEOUT_MS = 1_000;
/** A payload must be shorter than 8,000 bytes; a uuid with its quotes takes 39. */
const SUBJECTS_PER_NOTIFY = 150;

interface Hint {
  readonly from: string;
  readonly channel: SignalChannel;
  readonly subjects: readonly string[];
}

export interface SignalConnectionParts {
  readonly replica: string;
  readonly log: Logger;
  readonly sockets: DatabaseSockets;
}

export class SignalConnection {
  readonly #signals: Signals;
  readonly #databaseUrl: string;
  readonly #parts: SignalConnectionParts;
  #client: pg.Client | undefined;
  #mergeTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #askTimer: NodeJS.Timeout | undefined;
  /** One statement at a time: pg queues a second one for now, and says that it will not for ever. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(signals: Signals, databaseUrl: string, parts: SignalConnectionParts) {
    this.#signals = signals;
    this.#databaseUrl = databaseUrl;
    this.#parts = parts;
  }

  async open(): Promise<void> {
    await this.#connect();
    this.#signals.onOutgoing(() => {
      this.#mergeTimer ??= setTimeout(() => this.#inTurn(() => this.#flush()), MERGE_MS);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#mergeTimer);
    clearTimeout(this.#reconnectTimer);
    clearInterval(this.#askTimer);
    this.#signals.onOutgoing(() => undefined);
    if (this.#client) await this.#end(this.#client);
  }

  /** A server that hangs does not answer the farewell either. */
  async #end(client: pg.Client): Promise<void> {
    endSilentConnection(client, FAREWELL_TIMEOUT_MS);
    await client.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      stream: this.#parts.sockets.make,
    });
    client.on('error', (error) => this.#parts.log.warn({ err: error.message }, 'connection for hints failed'));
    client.on('notification', (notification) => this.#receive(notification.payload ?? ''));
    try {
      await client.connect();
      endSilentConnection(client);
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    // From here on: a first attempt that fails is its caller's to repeat.
    client.on('end', () => this.#connectLater());
    this.#client = client;
    if (this.#closed) return this.#end(client);
    clearInterval(this.#askTimer);
    this.#askTimer = setInterval(() => this.#inTurn(() => client.query('SELECT 1')), ASK_MS).unref();
  }

  #inTurn(work: () => Promise<unknown>): void {
    this.#turn = this.#turn.then(work).catch(() => undefined);
  }

  #connectLater(): void {
    this.#client = undefined;
    clearInterval(this.#askTimer);
    if (this.#closed) return;
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = setTimeout(() => {
      this.#connect().then(
        () => this.#signals.noteGap(),
        () => this.#connectLater(),
      );
    }, RECONNECT_MS);
  }

  #receive(payload: string): void {
    const hint = JSON.parse(payload) as Hint;
    if (hint.from !== this.#parts.replica) this.#signals.deliver(hint.channel, hint.subjects);
  }

  async #flush(): Promise<void> {
    this.#mergeTimer = undefined;
    const outgoing = this.#signals.takeOutgoing();
    if (!this.#client) return;
    try {
      for (const [channel, set] of outgoing) {
        const subjects = [...set];
        for (let at = 0; at < subjects.length; at += SUBJECTS_PER_NOTIFY) {
          const hint: Hint = {
            from: this.#parts.replica,
            channel,
            subjects: subjects.slice(at, at + SUBJECTS_PER_NOTIFY),
          };
          await this.#client.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(hint)]);
        }
      }
    } catch (error) {
      this.#parts.log.warn({ err: (error as Error).message }, 'hints to other replicas were lost');
    }
  }
}
