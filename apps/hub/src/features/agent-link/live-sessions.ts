/**
 * The sessions that this replica holds. Hints from other replicas, and a poll behind them, end those that were taken
 * over, quarantined or revoked, and wake those whose desired state changed.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

import { signalsOf } from '../../platform/database/signals.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import type { AgentSession } from './agent-session.ts';
import { DesiredRepository } from './desired.repository.ts';
import { SessionRepository } from './session.repository.ts';

const POLL_MS = 1_500;

@Injectable()
export class LiveSessions implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #byAgent = new Map<string, AgentSession>();
  readonly #log: Logger;
  readonly #stops: (() => void)[] = [];
  #polling: Promise<void> = Promise.resolve();
  #stopped = false;
  #failing = false;

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(DesiredRepository) private readonly desired: DesiredRepository,
  ) {
    this.#log = runtime.log.child({ part: 'sessions' });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.sessions.disconnectAllOfReplica(Date.now());
    const signals = signalsOf(this.dataSource);
    this.#stops.push(
      signals.listen('desired', (agentIds) => {
        for (const agentId of agentIds) this.#byAgent.get(agentId)?.sender.wake();
      }),
      signals.listen('session', (agentIds) => {
        const mine = agentIds.filter((agentId) => this.#byAgent.has(agentId));
        if (mine.length > 0) void this.#endFenced(mine).catch((error: unknown) => this.#warn(error));
      }),
    );
    const { epochListeners } = this.runtime;
    const endAll = (): void => {
      for (const session of this.all) session.end('RESTART');
    };
    epochListeners.add(endAll);
    this.#stops.push(() => epochListeners.delete(endAll));
    this.#pollLater();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
    await this.#polling;
  }

  get all(): readonly AgentSession[] {
    return [...this.#byAgent.values()];
  }

  add(session: AgentSession): void {
    this.#byAgent.get(session.agentId)?.end('TAKEN_OVER');
    this.#byAgent.set(session.agentId, session);
    this.runtime.metrics.sessions.set(this.#byAgent.size);
  }

  remove(session: AgentSession): void {
    if (this.#byAgent.get(session.agentId) === session) this.#byAgent.delete(session.agentId);
    this.runtime.metrics.sessions.set(this.#byAgent.size);
  }

  async #endFenced(agentIds: readonly string[]): Promise<void> {
    const sessions = agentIds.flatMap((agentId) => this.#byAgent.get(agentId) ?? []);
    if (sessions.length === 0) return;
    const fenced = await this.sessions.findFenced(sessions);
    for (const session of sessions) {
      const state = fenced.get(session.agentId);
      if (state === undefined) continue;
      if (state === 'QUARANTINED' || state === 'REVOKED') session.end(state);
      else session.end('TAKEN_OVER');
    }
  }

  #pollLater(): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#polling = this.#poll()
        .then(
          () => (this.#failing = false),
          (error: unknown) => this.#warn(error),
        )
        .then(() => this.#pollLater());
    }, POLL_MS);
    timer.unref();
  }

  async #poll(): Promise<void> {
    if (this.#byAgent.size === 0) return;
    await this.#endFenced([...this.#byAgent.keys()]);
    for (const [agentId, hubUids] of await this.desired.findDue(this.runtime.replica)) {
      this.#byAgent.get(agentId)?.sender.wake(hubUids);
    }
  }

  /** Said once, until it works again. */
  #warn(error: unknown): void {
    if (!this.#stopped && !this.#failing) {
      this.#log.warn({ err: error }, 'looking after sessions fails; it is tried again');
    }
    this.#failing = true;
  }
}
