/**
 * The sessions that this replica holds. Hints from other replicas, and a poll behind them, end those that were taken
 * over, quarantined or revoked, and wake those whose desired state changed. The poll asks for what changed lately, and
 * looks at every session once a round; only after a time in which hints were surely lost at all of them at once. To ask
 * for all of ten thousand sessions at each poll would cost more than everything else a quiet fleet does.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

import { signalsOf } from '../../../platform/database/signals.ts';
import { type HubRuntime, RUNTIME } from '../../../platform/lifecycle/hub-runtime.ts';
import type { AgentSession } from './agent-session.ts';
import { DesiredRepository } from '../desired/desired.repository.ts';
import { spreadMs } from '../admission/drain.rules.ts';
import { ALL_TIME_MS, chooseLookBackMs, ROUND_POLLS, takeNextOfRound } from './look-round.rules.ts';
import { whyEnded } from '../sessions/session-end.rules.ts';
import { SessionRepository } from '../sessions/session.repository.ts';

const POLL_MS = 1_500;
/** Sessions that arrive, and hints about sessions, within this are looked at together. */
const MERGE_MS = 20;

@Injectable()
export class LiveSessions implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #byAgent = new Map<string, AgentSession>();
  readonly #log: Logger;
  readonly #stops: (() => void)[] = [];
  #polling: Promise<void> = Promise.resolve();
  readonly #toLookAt = new Set<string>();
  /** Agents of this round that were not looked at yet. */
  #round: string[] = [];
  #polls = 0;
  #polledAtMs: number | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
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
        for (const agentId of agentIds) if (this.#byAgent.has(agentId)) this.#lookSoon(agentId);
      }),
      signals.onGap(() => {
        this.#polledAtMs = undefined;
        for (const agentId of this.#byAgent.keys()) this.#lookSoon(agentId);
      }),
    );
    const { epochListeners } = this.runtime;
    const endAll = (): void => {
      const windowMs = spreadMs(this.#byAgent.size);
      for (const session of this.all) {
        session.askBack(Math.round(Math.random() * windowMs));
        session.end('RESTART');
      }
    };
    epochListeners.add(endAll);
    this.#stops.push(() => epochListeners.delete(endAll));
    this.#pollLater();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
    clearTimeout(this.#lookTimer);
    await this.#polling;
  }

  get all(): readonly AgentSession[] {
    return [...this.#byAgent.values()];
  }

  add(session: AgentSession): void {
    this.#byAgent.get(session.agentId)?.end('TAKEN_OVER');
    this.#byAgent.set(session.agentId, session);
    this.runtime.metrics.sessions.set(this.#byAgent.size);
    // What was hinted between its acceptance and here found no session to wake or to end.
    this.#lookSoon(session.agentId);
  }

  remove(session: AgentSession): void {
    if (this.#byAgent.get(session.agentId) === session) this.#byAgent.delete(session.agentId);
    this.runtime.metrics.sessions.set(this.#byAgent.size);
  }

  #lookSoon(agentId: string): void {
    this.#toLookAt.add(agentId);
    this.#lookTimer ??= setTimeout(() => {
      this.#lookTimer = undefined;
      const agentIds = [...this.#toLookAt];
      this.#toLookAt.clear();
      void this.#lookAt(agentIds).catch((error: unknown) => this.#warn(error));
    }, MERGE_MS).unref();
  }

  async #lookAt(agentIds: readonly string[]): Promise<void> {
    const sessions = agentIds.flatMap((agentId) => this.#byAgent.get(agentId) ?? []);
    if (sessions.length === 0) return;
    const found = await this.sessions.findFencedOrBehind(sessions);
    for (const session of sessions) {
      const view = found.get(session.agentId);
      if (view === undefined) continue;
      const reason = whyEnded(view);
      if (reason === undefined) session.sender.wake();
      else session.end(reason);
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
    const nowMs = performance.now();
    if (this.#round.length === 0) this.#round = [...this.#byAgent.keys()];
    await this.#lookAt(takeNextOfRound(this.#round, this.#byAgent.size));
    this.#polls += 1;
    const since = this.#polls % ROUND_POLLS === 0 ? ALL_TIME_MS : chooseLookBackMs(nowMs, this.#polledAtMs);
    for (const [agentId, hubUids] of await this.desired.findDue(this.runtime.replica, since)) {
      this.#byAgent.get(agentId)?.sender.wake(hubUids);
    }
    this.#polledAtMs = nowMs;
  }

  /** Said once, until it works again. */
  #warn(error: unknown): void {
    if (!this.#stopped && !this.#failing) {
      this.#log.warn({ err: error }, 'looking after sessions fails; it is tried again');
    }
    this.#failing = true;
  }
}
