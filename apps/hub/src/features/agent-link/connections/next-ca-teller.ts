/**
 * Brings a coming CA to the agents. It travels in Welcome, and sessions live for months, so when one appears every session is
 * asked to begin anew, spread over minutes. Agents say in Hello which CAs they trust: how many still lack the next one
 * is a metric and a line in the log, since whoever switches before it is 0 locks those out. So it is never 0 for want of
 * a look: not a number, until they were counted and when they could not be.
 */
import { nameHubCa, toTrustCapability } from '#protocol';
import { Inject, Injectable } from '@nestjs/common';
import { X509Certificate } from 'node:crypto';
import { DataSource } from 'typeorm';

import { type HubRuntime, RUNTIME } from '../../../platform/lifecycle/hub-runtime.ts';
import type { TlsChange } from '../../../platform/tls/tls-material.ts';
import { LiveSessions } from './live-sessions.ts';

const RECALL_MS_PER_SESSION = 20;
const RECALL_LIMIT_MS = 10 * 60_000;

@Injectable()
export class NextCaTeller {
  #told: number | undefined;

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(LiveSessions) private readonly live: LiveSessions,
    @Inject(DataSource) private readonly dataSource: DataSource,
  ) {
    runtime.metrics.agentsWithoutNextCa.set(NaN);
  }

  async look(change: TlsChange): Promise<void> {
    const { tls, log, metrics } = this.runtime;
    const { nextCaCertificate } = tls;
    if (nextCaCertificate === undefined) {
      this.#told = undefined;
      metrics.agentsWithoutNextCa.set(0);
      return;
    }
    if (change.nextCa) this.#recallAll();
    const caName = nameHubCa(new X509Certificate(nextCaCertificate));
    const without = await this.#countWithout(caName).catch((error: unknown) => {
      metrics.agentsWithoutNextCa.set(NaN);
      throw error;
    });
    metrics.agentsWithoutNextCa.set(without);
    if (without !== this.#told) {
      const message =
        without === 0 ? 'every agent trusts the next CA: it can be used' : 'agents do not trust the next CA yet';
      log.info({ agents: without }, message);
    }
    this.#told = without;
  }

  #recallAll(): void {
    const sessions = this.live.all;
    const windowMs = Math.min(RECALL_LIMIT_MS, sessions.length * RECALL_MS_PER_SESSION);
    this.runtime.log.info(
      { sessions: sessions.length },
      'a next CA is there: the agents are asked to come and hear of it',
    );
    for (const session of sessions) session.askBack(Math.round(Math.random() * windowMs));
  }

  async #countWithout(caName: string): Promise<number> {
    const rows = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM agent WHERE state = 'ACTIVE' AND NOT capabilities @> $1::jsonb`,
      [JSON.stringify([toTrustCapability(caName)])],
    );
    return rows[0]?.count ?? 0;
  }
}
