/**
 * The one connection that carries hints between replicas. Lost hints are allowed (each receiver polls), a lost
 * connection is not noticed by anyone else: it is opened again for as long as the hub runs.
 */
import type { Logger } from 'pino';
import pg from 'pg';

import { endSilentConnection } from './end-silent-connection.ts';
import type { SignalChannel, Signals } from './signals.ts';

const CHANNEL = 'atoll';
const MERGE_MS = 20;
const RECONNECT_MS = 1_000;
/** Nothing needs to be hinted for hours; an answer to this shows that somebody is there. */
const ASK_MS = 10_000;
const CONNECT_TIMEOUT_MS = 20_000;
/** A payload must be shorter than 8,000 bytes; a uuid with its quotes takes 39. */
const SUBJECTS_PER_NOTIFY = 150;

interface Hint {
  readonly from: string;
  readonly channel: SignalChannel;
  readonly subjects: readonly string[];
}

export class SignalConnection {
  readonly #signals: Signals;
  readonly #databaseUrl: string;
  readonly #replica: string;
  readonly #log: Logger;
  #client: pg.Client | undefined;
  #mergeTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #askTimer: NodeJS.Timeout | undefined;
  /** One statement at a time: pg queues a second one for now, and says that it will not for ever. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(signals: Signals, databaseUrl: string, replica: string, log: Logger) {
    this.#signals = signals;
    this.#databaseUrl = databaseUrl;
    this.#replica = replica;
    this.#log = log;
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
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('error', (error) => this.#log.warn({ err: error.message }, 'connection for hints failed'));
    client.on('end', () => this.#connectLater());
    client.on('notification', (notification) => this.#receive(notification.payload ?? ''));
    await client.connect();
    endSilentConnection(client);
    await client.query(`LISTEN ${CHANNEL}`);
    this.#client = client;
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
    if (hint.from !== this.#replica) this.#signals.deliver(hint.channel, hint.subjects);
  }

  async #flush(): Promise<void> {
    this.#mergeTimer = undefined;
    const outgoing = this.#signals.takeOutgoing();
    if (!this.#client) return;
    try {
      for (const [channel, set] of outgoing) {
        const subjects = [...set];
        for (let at = 0; at < subjects.length; at += SUBJECTS_PER_NOTIFY) {
          const hint: Hint = { from: this.#replica, channel, subjects: subjects.slice(at, at + SUBJECTS_PER_NOTIFY) };
          await this.#client.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(hint)]);
        }
      }
    } catch (error) {
      this.#log.warn({ err: (error as Error).message }, 'hints to other replicas were lost');
    }
  }
}
