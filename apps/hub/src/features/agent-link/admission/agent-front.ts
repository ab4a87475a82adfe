/**
 * Where agents come in: TCP, the queue for admission, TLS unless a balancer in front ends it, one WebSocket path and
 * nothing else. Every other request is answered 404, so that a browser or a probe at the wrong port learns nothing.
 */
import { AGENT_PATH, MAX_HANDSHAKE_FRAME_BYTES, MAX_TOLERATED_FRAME_BYTES, SUBPROTOCOL } from '#protocol';
import { createServer as createPlainServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { refuseUpgrade } from '../../../platform/connections/refuse-upgrade.ts';
import { UnknownPeers } from '../../../platform/connections/unknown-peers.ts';

/** From admission to the upgrade: TLS and one small request. */
const OPEN_TIMEOUT_MS = 10_000;
/**
 * Connections that were admitted and have not proven who they are. More than honest agents ever have: 400 a second are
 * admitted, each gives up after 5 s, and admission stops while more than 400 Hellos wait. Agents that wait for their approval
 * are not counted: of these there is one connection an agent, and what it sends stays small.
 */
const MAX_UNKNOWN = 4_000;
/** Of an unknown peer, without a whole message in them: more than one frame of a handshake, with what TLS makes of it. */
const MAX_UNKNOWN_BYTES = 4 * MAX_HANDSHAKE_FRAME_BYTES;
/**
 * Whole messages of an unknown peer. An agent sends one on each connection, an Enrol or a Hello. Each is parsed, and may cost
 * a signature and a question to the database, for somebody who has proven nothing.
 */
const MAX_UNKNOWN_FRAMES = 8;
/** Agents send each message as one frame. Of fragments each costs far more here than the byte that it may bring. */
const MAX_FRAGMENTS = 32;
/** Reads that one frame may come in: the largest one in the smallest segments of a usual path is some thousands. */
const MAX_CHUNKS = 16_384;
/** Connections that the kernel may hold for us while the event loop is busy; it caps this at its own limit. */
const BACKLOG = 4_096;

export interface AgentFrontParts {
  /** Absent: TLS is ended in front. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly waitingHellos: () => number;
  readonly nowMs: () => number;
  readonly isDraining: () => boolean;
  readonly serve: (socket: WebSocket, arrival: Arrival) => void;
}

export interface Arrival {
  /** The request's Host header. */
  readonly host: string | undefined;
  /**
   * To be called once the peer waits for its approval: no flood takes its place from it any more. What it sends stays small,
   * since nobody has approved it.
   */
  readonly onPending: () => void;
  /** To be called once the peer has a session: from then on its frames may be large. */
  readonly onKnown: () => void;
}

export class AgentFront {
  readonly #parts: AgentFrontParts;
  readonly #tcp: TcpServer;
  readonly #tls: TlsServer | undefined;
  readonly #queue: AdmissionQueue;
  readonly #sockets = new Set<Socket>();
  readonly #unknown = new UnknownPeers<Socket>(MAX_UNKNOWN);
  /** Sockets that have not asked for the upgrade yet. */
  readonly #opening = new WeakMap<Duplex, NodeJS.Timeout>();
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_TOLERATED_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    perMessageDeflate: false,
    // Answered by AgentPeer, which looks how much waits unread.
    autoPong: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });

  constructor(parts: AgentFrontParts) {
    this.#parts = parts;
    this.#tls = parts.tls && createTlsServer({ ...parts.tls, handshakeTimeout: OPEN_TIMEOUT_MS }, refuse);
    const http: Server = this.#tls ?? createPlainServer(refuse);
    http.on(this.#tls ? 'secureConnection' : 'connection', (socket: Duplex) => this.#expectUpgrade(socket));
    http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    const { metrics, log, waitingHellos, nowMs } = parts;
    // The inner server is given each socket when it is admitted; it never listens itself.
    const admit = (socket: Socket): void => {
      this.#watchUnknown(socket);
      http.emit('connection', socket);
      if (!this.#tls) socket.resume();
    };
    this.#queue = new AdmissionQueue({ admit, waitingHellos, nowMs, metrics, log });
    this.#tcp = createTcpServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Those whose certificate is swapped when it is renewed. */
  get tlsServers(): readonly TlsServer[] {
    return this.#tls ? [this.#tls] : [];
  }

  /** Resolves with the port, which the system chose when `port` is 0. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((done, failed) => {
      this.#tcp.once('error', failed);
      this.#tcp.listen({ port, host, backlog: BACKLOG }, () => done((this.#tcp.address() as AddressInfo).port));
    });
  }

  /** Takes no more connections, and sends those away that wait for their turn. */
  stopAccepting(): void {
    this.#tcp.close();
    this.#queue.stop();
  }

  /** Ends what is still open. */
  async close(): Promise<void> {
    if (this.#tcp.listening) this.stopAccepting();
    const closed = [...this.#sockets].map((socket) => new Promise((done) => socket.once('close', done)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    this.#queue.offer(socket);
  }

  #watchUnknown(socket: Socket): void {
    const crowded = this.#unknown.add(socket);
    socket.once('close', this.#unknown.forgetterOf(socket));
    if (crowded === undefined) return;
    this.#parts.metrics.admissionDrops.inc({ reason: 'SILENT' });
    crowded.destroy();
  }

  #expectUpgrade(socket: Duplex): void {
    this.#opening.set(
      socket,
      setTimeout(() => socket.destroy(), OPEN_TIMEOUT_MS),
    );
    socket.once('close', () => clearTimeout(this.#opening.get(socket)));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined);
    // Not by URL: that throws for a target like "//", and what is thrown here ends the process.
    const [path] = (request.url ?? '').split('?');
    const isDraining = this.#parts.isDraining();
    if (isDraining || path !== AGENT_PATH) {
      return refuseUpgrade(socket, isDraining ? 503 : 404);
    }
    clearTimeout(this.#opening.get(socket));
    this.#opening.delete(socket);
    const { host } = request.headers;
    const forget = this.#unknown.forgetterOf(request.socket);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const known = boundUnknown(socket, webSocket, () => this.#parts.metrics.admissionDrops.inc({ reason: 'FRAMES' }));
      const onKnown = (): void => {
        forget();
        known();
      };
      this.#parts.serve(webSocket, { host, onPending: forget, onKnown });
    });
  }
}

/**
 * Frames may be large, those of a handshake are small: a peer that begins a large one before it has a session is cut off, or
 * it would have it kept here without an end, also while it waits for an approval that nobody may ever give. Returns the way to end the watch.
 */
function boundUnknown(socket: Duplex, webSocket: WebSocket, onFlood: () => void): () => void {
  let bytes = 0;
  let frames = 0;
  const count = (data: Buffer): void => {
    bytes += data.length;
    if (bytes > MAX_UNKNOWN_BYTES) socket.destroy();
  };
  const begin = (): void => {
    bytes = 0;
    frames += 1;
    if (frames !== MAX_UNKNOWN_FRAMES + 1) return;
    onFlood();
    webSocket.terminate();
  };
  socket.on('data', count);
  webSocket.on('message', begin);
  return () => {
    socket.off('data', count);
    webSocket.off('message', begin);
  };
}

const refuse: RequestListener = (_, response) => {
  response.writeHead(404, { connection: 'close' }).end();
};
