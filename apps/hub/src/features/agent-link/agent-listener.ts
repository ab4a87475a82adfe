/**
 * The listener that agents have of their own (03): TLS, one WebSocket path, nothing else. Every other request is
 * answered 404, so that a browser or a probe at the wrong port learns nothing.
 */
import { AGENT_PATH, MAX_FRAME_BYTES, SUBPROTOCOL } from '#protocol';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { type WebSocket, WebSocketServer } from 'ws';

import { signalsOf } from '../../platform/database/signals.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { AgentConnection } from './agent-connection.ts';
import { AgentPeer } from './agent-peer.ts';
import { chooseAudience } from './audience.rules.ts';
import { LINK_PARTS, type LinkParts } from './link-parts.ts';
import { LiveSessions } from './live-sessions.ts';

/** A drain spreads the agents' reconnects over this long for each of them, up to the limit. */
const DRAIN_MS_PER_SESSION = 5;
const DRAIN_LIMIT_MS = 10_000;
const APPROVAL_POLL_MS = 2_000;

@Injectable()
export class AgentListener implements BeforeApplicationShutdown {
  readonly server: Server;
  readonly #log: Logger;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  readonly #pending = new Set<AgentConnection>();
  readonly #closing = new Set<Promise<void>>();
  readonly #approvalTimer: NodeJS.Timeout;
  readonly #stopListening: () => void;

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(LINK_PARTS) private readonly link: LinkParts,
    @Inject(LiveSessions) private readonly live: LiveSessions,
    @Inject(DataSource) dataSource: DataSource,
  ) {
    this.#log = runtime.log.child({ part: 'agents' });
    this.server = createServer({ cert: runtime.tls.certificate, key: runtime.tls.privateKey }, (_, response) => {
      response.writeHead(404).end();
    });
    this.server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#approvalTimer = setInterval(() => this.#tellApprovals(), APPROVAL_POLL_MS).unref();
    this.#stopListening = signalsOf(dataSource).listen('agent', () => this.#tellApprovals());
  }

  /** Resolves with the port, which the system chose when `port` is 0. */
  listen(port: number, address: string): Promise<number> {
    return new Promise((done, failed) => {
      this.server.once('error', failed);
      this.server.listen(port, address, () => done((this.server.address() as AddressInfo).port));
    });
  }

  /** Tells every agent to come back later, spread, so that the other replicas are not stormed; then closes. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#approvalTimer);
    this.#stopListening();
    this.runtime.readiness.drain();
    const closed = new Promise((done) => this.server.close(done));
    const sessions = this.live.all;
    const windowMs = Math.min(DRAIN_LIMIT_MS, sessions.length * DRAIN_MS_PER_SESSION);
    for (const session of sessions) session.drain(Math.round(Math.random() * windowMs));
    await new Promise((done) => setTimeout(done, sessions.length > 0 ? windowMs + 100 : 0));
    for (const session of this.live.all) session.end('RESTART');
    await new Promise((done) => setTimeout(done, 50));
    for (const socket of this.#webSockets.clients) socket.terminate();
    this.server.closeAllConnections();
    await closed;
    await Promise.allSettled([...this.#closing]);
    await this.link.status.stop();
    await this.link.seen.stop();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined);
    // Not by URL: that throws for a target like "//", and what is thrown here ends the process.
    const [path] = (request.url ?? '').split('?');
    if (this.runtime.readiness.draining || path !== AGENT_PATH) {
      socket.end(`HTTP/1.1 ${this.runtime.readiness.draining ? 503 : 404} Refused\r\nConnection: close\r\n\r\n`);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#serve(webSocket, chooseAudience(this.runtime.addresses.agents, request.headers.host));
    });
  }

  #serve(socket: WebSocket, audience: string): void {
    const connection = new AgentConnection({
      peer: new AgentPeer(socket),
      link: this.link,
      audience,
      hubEpoch: this.runtime.identity.hubEpoch,
      nextCa: this.runtime.tls.nextCaCertificate,
      log: this.#log,
      onSession: (session) => {
        this.#pending.delete(connection);
        this.live.add(session);
        socket.once('close', () => this.live.remove(session));
      },
      onEnd: () => this.#pending.delete(connection),
    });
    this.#pending.add(connection);
    socket.on('message', (data: Buffer) => connection.receive(data));
    socket.on('error', (error) => this.#log.debug({ err: error.message }, 'socket failed'));
    socket.on('close', () => {
      const closing = connection
        .close()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'end of session not written'));
      this.#closing.add(closing);
      void closing.finally(() => this.#closing.delete(closing));
    });
    void connection.open();
  }

  #tellApprovals(): void {
    for (const connection of this.#pending) {
      const agentId = connection.pendingAgentId;
      if (agentId === undefined) continue;
      this.link.enrolments.stateOf(agentId).then(
        (state) => connection.tellApproval(state),
        (error: unknown) => this.#log.warn({ err: error }, 'approval could not be looked up'),
      );
    }
  }
}
