/**
 * One WebSocket to the hub: TLS verified against the given CAs only, no compression, bounded frames. It notices a peer
 * that is gone without a word (half-open) by its silence: any frame or pong counts, a ping asks for one.
 */
import { AGENT_PATH, MAX_FRAME_BYTES, PROTOCOL_1, SUBPROTOCOL } from '#protocol';
import type { AgentMessage, AgentPayloads, Dialect } from '#protocol';
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import WebSocket from 'ws';
import { explainTlsFailure } from './explain-tls-failure.ts';

const OPEN_TIMEOUT_MS = 5_000;
/** Silence after which the peer is asked, and after which it counts as gone. */
const SILENCE: SilenceLimits = { pingAfterMs: 10_000, goneAfterMs: 20_000 };

export interface SilenceLimits {
  readonly pingAfterMs: number;
  readonly goneAfterMs: number;
}

export interface ConnectionTarget {
  /** host:port. */
  readonly hubAddress: string;
  /** PEM; empty: the system's own. */
  readonly cas: readonly string[];
  readonly silence?: SilenceLimits | undefined;
}

export interface ConnectionEvents {
  readonly onFrame: (data: Uint8Array) => void;
  /** Once, whatever the cause. `code`: that of the close frame, 1006 without one. */
  readonly onEnd: (reason: string, code: number) => void;
}

export class Connection {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #silence: SilenceLimits;
  #heardAtMs = performance.now();
  #nonce = 0;
  #failure = '';
  /** Of what is sent from now on; the handshake is the same in all of them. */
  dialect: Dialect = PROTOCOL_1;
  #chain: readonly X509Certificate[] = [];

  /** Throws when the address is none. */
  constructor({ hubAddress, cas, silence }: ConnectionTarget, events: ConnectionEvents) {
    this.#silence = silence ?? SILENCE;
    this.#socket = new WebSocket(`wss://${hubAddress}${AGENT_PATH}`, SUBPROTOCOL, {
      ...(cas.length === 0 ? {} : { ca: [...cas] }),
      rejectUnauthorized: true,
      handshakeTimeout: OPEN_TIMEOUT_MS,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
    });
    const heard = (): void => void (this.#heardAtMs = performance.now());
    this.#socket.on('open', heard);
    this.#socket.on('ping', heard);
    this.#socket.on('pong', heard);
    this.#socket.on('message', (data) => {
      heard();
      events.onFrame(data as Buffer);
    });
    this.#socket.on('upgrade', ({ socket }) => (this.#chain = readChain(socket as TLSSocket)));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#failure ||= explainTlsFailure(error.code, hubAddress) ?? error.message;
    });
    this.#socket.on('close', (code, text) => {
      clearInterval(this.#timer);
      events.onEnd(this.#failure || `closed with ${code} ${text.toString('utf8')}`.trim(), code);
    });
    this.#timer = setInterval(() => this.#look(), this.#silence.pingAfterMs / 4);
  }

  /** What the hub showed, its own certificate first; empty before the connection is open. */
  get peerChain(): readonly X509Certificate[] {
    return this.#chain;
  }

  /** Lost without an error when the connection has ended: its end says so. */
  send<T extends keyof AgentPayloads>(type: T, payload: AgentPayloads[T], nonce?: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#nonce += 1;
    this.#socket.send(this.dialect.encode({ type, nonce: nonce ?? `a${this.#nonce}`, payload } as AgentMessage));
  }

  /** Reads no more until resumed. The silence meanwhile is ours and says nothing about the hub. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#heardAtMs = performance.now();
    this.#socket.resume();
  }

  close(reason: string): void {
    this.#failure ||= reason;
    this.#socket.close(1000, reason.slice(0, 100));
    // A peer that does not answer the close frame must not hold us.
    setTimeout(() => this.#socket.terminate(), 1_000).unref();
  }

  #look(): void {
    if (this.#socket.isPaused) return;
    if (this.#silentMs > this.#silence.goneAfterMs) {
      // After this process itself stood still, timers come before what lies in the socket: that is read first.
      setImmediate(() => this.#endIfSilent());
    } else if (this.#silentMs > this.#silence.pingAfterMs && this.#socket.readyState === WebSocket.OPEN)
      this.#socket.ping();
  }

  #endIfSilent(): void {
    if (this.#socket.isPaused || this.#silentMs <= this.#silence.goneAfterMs) return;
    this.#failure ||= `nothing heard from the hub for ${Math.round(this.#silentMs / 1000)} s`;
    this.#socket.terminate();
  }

  get #silentMs(): number {
    return performance.now() - this.#heardAtMs;
  }
}

function readChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) {
    if (chain.some((seen) => seen.fingerprint256 === one?.fingerprint256)) break;
    chain.push(one);
  }
  return chain;
}
