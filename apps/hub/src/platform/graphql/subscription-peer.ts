/**
 * One WebSocket of the API. Until its token is known to be valid it gets one frame of 4 KiB, and nothing behind that frame
 * is read. Then its frames are worked off one after the other: the next one is looked at when the subscription of the one
 * before has begun, and meanwhile nothing is read, so that what waits does so at the sender. A peer that does not read is
 * let go. Without this anyone could have the hub parse megabytes, or keep what nobody fetches.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket as GraphqlWebSocket } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** The first frame, with its header. */
const MAX_STRANGER_BYTES = 4 * 1024 + 14;
/** What may wait for a peer that does not read: a page of the largest objects for each of its subscriptions. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** Below the 60 s after which common proxies cut silent connections. */
const BEAT_MS = 20_000;

/** Close codes: 1000-1999 of WebSockets, 4400-4499 of graphql-transport-ws and in its manner. */
export const CLOSE = {
  restart: 1012,
  tryLater: 1013,
  notText: 1003,
  unauthorized: 4401,
  forbidden: 4403,
  tooLarge: 4413,
  failed: 4500,
} as const;

export interface PeerHooks {
  /** Every 20 s, while the peer answers pings: whether it may stay. */
  readonly mayStay: () => Promise<boolean>;
  /** A frame could not be worked off for a reason that is not the peer's. */
  readonly onFailure: (error: unknown) => void;
}

export class SubscriptionPeer implements GraphqlWebSocket {
  readonly protocol: string;
  readonly #socket: WebSocket;
  readonly #hooks: PeerHooks;
  readonly #stopCounting: () => void;
  #handle: (text: string) => Promise<void> = () => Promise.resolve();
  #waiting: string[] = [];
  #preparing: Promise<unknown> | undefined;
  #isWorking = false;
  #isKnown = false;
  #isEnded = false;
  #isAlive = true;
  #beat: NodeJS.Timeout | undefined;

  /** `wire`: what `socket` runs over, before it was given any byte. */
  constructor(socket: WebSocket, wire: Duplex, hooks: PeerHooks) {
    this.#socket = socket;
    this.#hooks = hooks;
    this.protocol = socket.protocol;
    this.#stopCounting = this.#countBytes(wire);
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', (data: Buffer) => this.#answerPing(data));
    socket.on('pong', () => (this.#isAlive = true));
    // What is wrong with a frame: the close event follows, and ends everything.
    socket.on('error', () => this.#end());
    socket.once('close', () => this.#end());
  }

  onMessage(handle: (text: string) => Promise<void>): void {
    this.#handle = handle;
  }

  /** Its token is valid. */
  welcome(): void {
    if (this.#isEnded) return;
    this.#isKnown = true;
    this.#stopCounting();
    this.#beat = setInterval(() => void this.#look(), BEAT_MS).unref();
  }

  /** The frame at hand takes this long; the next one waits for it. */
  hold<T>(preparing: Promise<T>): Promise<T> {
    this.#preparing = preparing.catch(() => undefined);
    return preparing;
  }

  /** Resolves when the frame went to the operating system, or its peer has gone. */
  send(text: string): Promise<void> {
    if (this.#isEnded || this.#letGoUnread()) return Promise.resolve();
    return new Promise((done) => this.#socket.send(text, () => done()));
  }

  /** The first reason counts. What comes from the peer now is not looked at any more. */
  close(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#end();
    // Paused, it would not even read the answer to the close frame.
    this.#socket.resume();
    // One code for all without a valid token, whatever they began with.
    this.#socket.close(code === CLOSE.unauthorized ? CLOSE.forbidden : code, reason);
  }

  #end(): void {
    this.#isEnded = true;
    this.#waiting = [];
    clearInterval(this.#beat);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#isEnded) return;
    if (isBinary) return this.close(CLOSE.notText, 'Send text frames');
    this.#isAlive = true;
    this.#waiting.push(data.toString('utf8'));
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) {
      this.#handle(text).catch((error: unknown) => this.#fail(error));
      const preparing = this.#preparing;
      this.#preparing = undefined;
      if (!preparing) continue;
      this.#socket.pause();
      await preparing;
      this.#socket.resume();
    }
    this.#isWorking = false;
  }

  #fail(error: unknown): void {
    this.#hooks.onFailure(error);
    this.close(CLOSE.failed, 'Internal error');
  }

  #answerPing(data: Buffer): void {
    if (!this.#isKnown) return this.close(CLOSE.forbidden, 'Forbidden');
    if (!this.#isEnded && !this.#letGoUnread()) this.#socket.pong(data);
  }

  #letGoUnread(): boolean {
    if (this.#socket.bufferedAmount <= MAX_UNREAD_BYTES) return false;
    this.close(CLOSE.tooLarge, 'You do not read what you asked for');
    return true;
  }

  async #look(): Promise<void> {
    if (!this.#isAlive) return this.#socket.terminate();
    this.#isAlive = false;
    if (!(await this.#hooks.mayStay())) return this.close(CLOSE.forbidden, 'Forbidden');
    if (!this.#isEnded && !this.#letGoUnread()) this.#socket.ping();
  }

  /** Counted below the WebSocket, so that a large frame is cut off at its begin, and many small ones as well. */
  #countBytes(wire: Duplex): () => void {
    let bytes = 0;
    const count = (data: Buffer): void => {
      bytes += data.length;
      if (bytes <= MAX_STRANGER_BYTES) return;
      if (this.#isEnded) wire.destroy();
      else this.close(CLOSE.forbidden, 'Forbidden');
    };
    // Before the WebSocket gets them.
    wire.prependListener('data', count);
    return () => void wire.off('data', count);
  }
}
