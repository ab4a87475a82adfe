/**
 * One connection that stays open, made anew by the next call after it ended. Decides nothing about Redis; knows how a
 * connection ended, since FIN and RST are evidence of an exit and a time-out is not (04, "When it may promote").
 * A connection is kept through single time-outs, so that it can still tell of an exit later, and given up after three
 * in a row, so that a half-open one does not blind us. One whose answers pass a bound (bounds/) is ended by us, which proves
 * nothing, and the server is not asked again for a while: its answers cost the same each time.
 */
import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { assertCommandAllowed } from './assert-command-allowed.ts';
import type { RedisCommand } from './assert-command-allowed.ts';
import { boundedBy } from './bounds/bounded-connector.ts';
import { replyBudget } from './bounds/reply-budget.ts';
import { MAX_REPLY_BYTES, ReplyMeter } from './bounds/reply-meter.ts';
import { TOO_LARGE_CODE } from './bounds/too-large-code.ts';
import { DEFAULT_COMMAND_TIMEOUT_MS, DEFAULT_CONNECT_TIMEOUT_MS } from './link-options.ts';
import type { ConnectionEnd, LinkOptions, RedisCredentials } from './link-options.ts';
import { RedisCallError, classifyCallError } from './redis-call-error.ts';
import { testProxyOptions } from './test-proxy.ts';

/** A server's answer to one command: a value, or the error text it replied with. */
export type Reply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

const MAX_TIMEOUTS_IN_A_ROW = 3;
/** How long a server is left alone whose answers were too large. */
const LEFT_ALONE_MS = 10_000;

interface OpenConnection {
  readonly client: Redis;
  readonly meter: ReplyMeter;
  calls: number;
  lastErrorCode: string | undefined;
  established: boolean;
  endedByUs: boolean;
}

export class StandingConnection {
  readonly #options: LinkOptions;
  #opening: Promise<OpenConnection> | undefined;
  #current: OpenConnection | undefined;
  #timeoutsInARow = 0;
  #refusals = 0;
  #closed = false;
  #leftAloneUntilMs = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /**
   * Sends the commands in one write and answers in their order. Throws RedisCallError when any of them got no answer,
   * ForbiddenCommandError before anything is sent when one is not allowed.
   */
  async run(commands: readonly RedisCommand[], maxReplyBytes = MAX_REPLY_BYTES): Promise<readonly Reply[]> {
    for (const command of commands) assertCommandAllowed(command);
    const connection = await this.#open();
    const { client, meter } = connection;
    connection.calls += 1;
    meter.asked(commands.length, maxReplyBytes);
    try {
      const pipeline = client.pipeline();
      for (const [name, ...args] of commands) pipeline.call(name, ...args);
      const answers = await pipeline.exec();
      return (answers ?? []).map(([error, value]) => this.#toReply(error, value));
    } catch (error) {
      throw this.#noteFailure(readOverrun(connection) ?? classifyCallError(error));
    } finally {
      connection.calls -= 1;
      if (connection.calls === 0) meter.settle();
    }
  }

  /** Ends the connection for good; later calls throw. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  #toReply(error: Error | null, value: unknown): Reply {
    if (error === null) {
      this.#timeoutsInARow = 0;
      return { ok: true, value };
    }
    if (error.name === 'ReplyError') {
      const failure = classifyCallError(error);
      if (failure.reason === 'AUTH') throw failure;
      this.#timeoutsInARow = 0;
      return { ok: false, error: error.message };
    }
    throw classifyCallError(error);
  }

  #noteFailure(failure: RedisCallError): RedisCallError {
    this.#timeoutsInARow = failure.reason === 'TIMEOUT' ? this.#timeoutsInARow + 1 : 0;
    if (failure.reason === 'AUTH' || this.#timeoutsInARow >= MAX_TIMEOUTS_IN_A_ROW) this.#drop();
    return failure;
  }

  #drop(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#timeoutsInARow = 0;
    opening?.then(endConnection, () => undefined);
  }

  #open(): Promise<OpenConnection> {
    if (this.#closed) return Promise.reject(new RedisCallError('CLOSED', 'by this side'));
    if (performance.now() < this.#leftAloneUntilMs) return Promise.reject(new RedisCallError('TOO_LARGE'));
    if (this.#opening === undefined) {
      const opening = this.#connect();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  async #connect(): Promise<OpenConnection> {
    const credentials = await this.#options.credentials(this.#refusals);
    const meter = new ReplyMeter();
    const bounds = boundedBy(meter, replyBudget);
    const client = new Redis({ ...bounds, ...buildClientOptions(this.#options, credentials) });
    const state = { lastErrorCode: undefined, established: false, endedByUs: false };
    const connection: OpenConnection = { client, meter, calls: 0, ...state };
    let firstError: unknown;
    client.on('error', (error: unknown) => {
      firstError ??= error;
      connection.lastErrorCode = readErrorCode(error) ?? connection.lastErrorCode;
      if (readOverrun(connection) !== undefined) this.#leftAloneUntilMs = performance.now() + LEFT_ALONE_MS;
    });
    client.on('close', () => this.#ended(connection));
    try {
      await client.connect();
    } catch (error) {
      endConnection(connection);
      const failure = classifyCallError(firstError ?? error);
      if (failure.reason === 'AUTH') this.#refusals += 1;
      throw failure;
    }
    connection.established = true;
    meter.authenticated();
    this.#current = connection;
    this.#listen(client);
    return connection;
  }

  /** Under RESP2 a connection that listens can say nothing else, so then it does not listen. */
  #listen(client: Redis): void {
    const { channels = [], onMessage } = this.#options;
    if (channels.length === 0 || onMessage === undefined || protocolOf(client) !== 3) return;
    client.on('message', (channel: string, message: string) => onMessage(channel, message));
    client.subscribe(...channels).catch(() => undefined);
  }

  #ended(connection: OpenConnection): void {
    if (!connection.established) return;
    connection.established = false;
    if (this.#current === connection) this.#opening = undefined;
    this.#options.onEnd?.(readEnd(connection));
  }
}

/** What HELLO agreed on; ioredis keeps it, and falls back to 2 by itself. */
const protocolOf = (client: Redis): unknown =>
  (client as unknown as { condition?: { protocol?: unknown } }).condition?.protocol;

const endConnection = (connection: OpenConnection): void => {
  connection.endedByUs = true;
  connection.client.disconnect();
};

/** The failure of a connection that we ended because its answers passed a bound. */
const readOverrun = ({ lastErrorCode }: OpenConnection): RedisCallError | undefined =>
  lastErrorCode === TOO_LARGE_CODE ? new RedisCallError('TOO_LARGE') : undefined;

const readErrorCode = (error: unknown): string | undefined => {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
};

const readEnd = (connection: OpenConnection): ConnectionEnd => {
  if (connection.endedByUs || readOverrun(connection) !== undefined) return 'SELF';
  if (connection.lastErrorCode === undefined) return 'FIN';
  return connection.lastErrorCode === 'ECONNRESET' || connection.lastErrorCode === 'EPIPE' ? 'RST' : 'TIMEOUT';
};

const buildClientOptions = (options: LinkOptions, credentials: RedisCredentials | undefined) =>
  ({
    host: options.host,
    port: options.port,
    ...(credentials ?? {}),
    ...testProxyOptions(),
    lazyConnect: true,
    protocol: (options.channels ?? []).length > 0 ? 3 : 2,
    // Reconnecting, queueing and repeating are the caller's decisions: a command repeated behind our back could act on
    // a picture that is long gone.
    retryStrategy: null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    disableClientInfo: true,
    keepAlive: 10_000,
    connectTimeout: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    commandTimeout: options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
  }) satisfies RedisOptions;
