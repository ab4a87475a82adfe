/**
 * Tells whoever watches logs and metrics what waits for a person: deletes that wait for an approval, held by the hub or refused by
 * their agent (a script that deletes by mistake is seen here first, and one that means it would else wait unseen), and agents in quarantine, whose member
 * clusters get nothing until somebody has looked. Every replica tells: an alarm must not hang on a claim.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';

import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';

const LOOK_EVERY_MS = 10_000;
/** Told one by one; the metric counts all. */
const TOLD_EACH = 20;

interface Subject {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly gauge: (metrics: Metrics) => Gauge;
  /** Rows with an `id`, by an index of what waits. */
  readonly find: string;
}

const SUBJECTS: readonly Subject[] = [
  {
    level: 'warn',
    message: 'a delete waits for a person: approveDeletes lets it through, or forget the object',
    gauge: (metrics) => metrics.deletesHeld,
    find: `SELECT r.hub_uid AS id, r.namespace, r.name, m.name AS "memberCluster", r.deletion_held_at AS since, coalesce(r.deletion_held_for, d.code) AS code
      FROM resource AS r JOIN member_cluster AS m ON m.id = r.member_cluster_id JOIN delivery AS d ON d.hub_uid = r.hub_uid
      WHERE r.deletion_held_at IS NOT NULL AND r.deletion = 'DELETE'
      UNION ALL
      SELECT r.hub_uid, r.namespace, r.name, m.name, d.updated_at, d.code FROM delivery AS d
      JOIN resource AS r ON r.hub_uid = d.hub_uid JOIN member_cluster AS m ON m.id = r.member_cluster_id
      WHERE d.code = 'DELETED_OBJECT_IS_BACK' AND r.deletion_held_at IS NULL AND r.deletion = 'DELETE' ORDER BY id`,
  },
  {
    level: 'error',
    message: 'an agent is quarantined: its member cluster gets nothing until a person has looked',
    gauge: (metrics) => metrics.agentsQuarantined,
    find: `SELECT a.id, m.name AS "memberCluster", a.state_reason AS reason
      FROM agent AS a JOIN member_cluster AS m ON m.id = a.member_cluster_id
      WHERE a.state <> 'ACTIVE' AND a.state = 'QUARANTINED' ORDER BY a.id`,
  },
];

@Injectable()
export class PersonWatch implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #told = new Map<Subject, ReadonlySet<string>>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(DataSource) private readonly dataSource: DataSource,
  ) {}

  onApplicationBootstrap(): void {
    const look = (): void => {
      this.#looking = this.look().catch((error: unknown) => {
        this.runtime.log.warn({ err: error }, 'what waits for a person could not be looked up');
      });
    };
    look();
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async look(): Promise<void> {
    for (const subject of SUBJECTS) await this.#lookFor(subject);
  }

  async #lookFor(subject: Subject): Promise<void> {
    const { log, metrics } = this.runtime;
    const rows = await this.dataSource.query<{ id: string }[]>(subject.find);
    subject.gauge(metrics).set(rows.length);
    const fresh = rows.filter(({ id }) => this.#told.get(subject)?.has(id) !== true);
    for (const row of fresh.slice(0, TOLD_EACH)) log[subject.level](row, subject.message);
    this.#told.set(subject, new Set(rows.map(({ id }) => id)));
  }
}
