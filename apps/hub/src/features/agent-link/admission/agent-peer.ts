/** One agent's socket: what it takes to send typed messages without growing memory for a peer that does not read. */
import type { Dialect, HubMessage, HubPayloads } from '#protocol';
import { PROTOCOL_1, TAKEN_OVER_CLOSE_CODE } from '#protocol';
import type { WebSocket } from 'ws';

/** A peer that lets this much wait unread is cut off; it reconnects and is told anew (03 rule 12). */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/** Close codes: 1008 policy, 1012 service restart, 4000-4999 ours. */
export const CLOSE = {
  refused: 1008,
  restart: 1012,
  takenOver: TAKEN_OVER_CLOSE_CODE,
  fenced: 4002,
  badFrame: 4003,
} as const;

export class AgentPeer {
  readonly #socket: WebSocket;
  #count = 0;
  /** Of what is sent from now on; the handshake is the same in all of them. */
  dialect: Dialect = PROTOCOL_1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('ping', (data: Buffer) => this.#pong(data));
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /**
   * Resolves when the frame went to the operating system; also when the socket closed meanwhile, since its close event
   * is what ends the session. Returns the nonce. `nonce`: that of the message this one answers.
   */
  send<T extends keyof HubPayloads>(type: T, payload: HubPayloads[T], nonce?: string): Promise<string> {
    const used = nonce ?? `h${(this.#count += 1)}`;
    if (!this.isOpen) return Promise.resolve(used);
    if (this.#cutOffUnread()) return Promise.resolve(used);
    const frame = this.dialect.encode({ type, nonce: used, payload } as HubMessage);
    return new Promise((done) => this.#socket.send(frame, () => done(used)));
  }

  /** A peer that asks without end and reads no answer would else have them all kept here. */
  #pong(data: Buffer): void {
    if (this.isOpen && !this.#cutOffUnread()) this.#socket.pong(data);
  }

  #cutOffUnread(): boolean {
    if (this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) return false;
    this.#socket.terminate();
    return true;
  }

  /** Reads no more until resumed: what is not read waits at the sender, not in this process. */
  pause(): void {
    if (this.isOpen) this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason: string): void {
    // Paused, it would not even read the answer to the close frame.
    this.#socket.resume();
    this.#socket.close(code, reason);
    // A peer that does not answer the close frame must not hold its session.
    setTimeout(() => this.#socket.terminate(), 2_000).unref();
  }
}
