/**
 * The connections of this replica, from their WebSocket on, and how they all end when the replica stops. One sweep looks
 * after the deadlines of all of them: ten thousand timers, set anew with each frame, would cost more than the frames.
 */
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:https';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { WebSocket } from 'ws';

import { signalsOf } from '../../../platform/database/signals.ts';
import { type HubRuntime, RUNTIME } from '../../../platform/lifecycle/hub-runtime.ts';
import { AgentConnection } from './agent-connection.ts';
import { AgentFront, type Arrival } from '../admission/agent-front.ts';
import { AgentPeer } from '../admission/agent-peer.ts';
import { chooseAudience } from '../admission/audience.rules.ts';
import { planDrain } from '../admission/drain.rules.ts';
import { LINK_PARTS, type LinkParts } from './link-parts.ts';
import { LiveSessions } from './live-sessions.ts';

const APPROVAL_POLL_MS = 2_000;
const SWEEP_MS = 1_000;

@Injectable()
export class AgentListener implements BeforeApplicationShutdown {
  readonly #front: AgentFront;
  readonly #log: Logger;
  readonly #connections = new Set<AgentConnection>();
  readonly #pending = new Set<AgentConnection>();
  readonly #closing = new Set<Promise<void>>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #stopListening: () => void;

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(LINK_PARTS) private readonly link: LinkParts,
    @Inject(LiveSessions) private readonly live: LiveSessions,
    @Inject(DataSource) dataSource: DataSource,
  ) {
    this.#log = runtime.log.child({ part: 'agents' });
    const { tls, config, metrics, readiness } = runtime;
    if (!config.agentTls) {
      this.#log.warn('agents are served WITHOUT TLS (ATOLL_AGENT_TLS=off): let only the balancer that ends it in here');
    }
    this.#front = new AgentFront({
      ...(config.agentTls ? { tls: { cert: tls.certificate, key: tls.privateKey } } : {}),
      metrics,
      log: this.#log,
      waitingHellos: () => link.sessions.waitingHellos,
      nowMs: () => link.clock.monotonicMs(),
      isDraining: () => readiness.draining,
      serve: (socket, arrival) => this.#serve(socket, arrival),
    });
    this.#timers = [
      setInterval(() => this.#tellApprovals(), APPROVAL_POLL_MS).unref(),
      setInterval(() => this.#sweep(), SWEEP_MS).unref(),
    ];
    this.#stopListening = signalsOf(dataSource).listen('agent', (agentIds) => this.#tellApprovals(new Set(agentIds)));
  }

  /** Those whose certificate is swapped when it is renewed: none when TLS is ended in front. */
  get tlsServers(): readonly TlsServer[] {
    return this.#front.tlsServers;
  }

  /** Resolves with the port, which the system chose when `port` is 0. */
  listen(port: number, address: string): Promise<number> {
    return this.#front.listen(port, address);
  }

  /** Tells every agent when to come back, spread, so that nobody is stormed; then closes. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopListening();
    this.runtime.readiness.drain();
    this.#front.stopAccepting();
    const sessions = this.live.all;
    const others = sessions.length > 0 ? await this.link.sessions.countOtherReplicas().catch(() => 0) : 0;
    const { windowMs, waitMs } = planDrain(sessions.length, others);
    for (const session of sessions) session.drain(Math.round(Math.random() * windowMs));
    const { databaseSockets } = this.runtime;
    // Without its database this replica is of no use to those who would stay for their time.
    const mayStay = (): boolean => this.live.all.length > 0 && !databaseSockets.isGivenUp;
    for (const end = performance.now() + waitMs; mayStay() && performance.now() < end;) await sleep(50);
    for (const session of this.live.all) session.end('RESTART');
    await sleep(50);
    await this.#front.close();
    // The end of a WebSocket is told after that of its socket.
    for (const end = performance.now() + 2_000; this.#connections.size > 0 && performance.now() < end;) await sleep(5);
    await Promise.allSettled([...this.#closing]);
    await this.link.status.stop();
    await this.link.inventories.stop();
    await this.link.seen.stop();
  }

  #serve(socket: WebSocket, { host, onPending, onKnown }: Arrival): void {
    const connection: AgentConnection = new AgentConnection({
      peer: new AgentPeer(socket),
      link: this.link,
      audience: chooseAudience(this.runtime.addresses.agents, host),
      onPending: (agentId) => {
        onPending();
        this.#endOlder(agentId, connection);
      },
      onKnown,
      hubEpoch: () => this.runtime.identity.hubEpoch,
      nextCa: this.runtime.tls.nextCaCertificate,
      log: this.#log,
      onSession: (session) => {
        this.#pending.delete(connection);
        this.live.add(session);
        socket.once('close', () => this.live.remove(session));
      },
    });
    this.#connections.add(connection);
    this.#pending.add(connection);
    socket.on('message', (data: Buffer) => connection.receive(data));
    socket.on('error', (error) => this.#log.debug({ err: error.message }, 'socket failed'));
    socket.on('close', () => this.#close(connection));
    void connection.open();
  }

  #close(connection: AgentConnection): void {
    this.#connections.delete(connection);
    this.#pending.delete(connection);
    const closing = connection
      .close()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'end of session not written'));
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  /** One connection an agent that waits for its approval. */
  #endOlder(agentId: string, newest: AgentConnection): void {
    for (const connection of this.#pending) {
      if (connection !== newest && connection.pendingAgentId === agentId) connection.giveWay();
    }
  }

  #sweep(): void {
    const nowMs = this.link.clock.monotonicMs();
    for (const connection of this.#connections) connection.closeIfOverdue(nowMs);
  }

  /** Of all that wait, or of these; looked up together. */
  #tellApprovals(agentIds?: ReadonlySet<string>): void {
    for (const connection of this.#pending) {
      const agentId = connection.pendingAgentId;
      if (agentId === undefined || agentIds?.has(agentId) === false) continue;
      this.link.enrolments.stateOf(agentId).then(
        (state) => connection.tellApproval(state),
        (error: unknown) => this.#log.warn({ err: error }, 'approval could not be looked up'),
      );
    }
  }
}
