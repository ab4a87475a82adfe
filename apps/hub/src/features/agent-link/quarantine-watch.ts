/** Tells whoever watches logs and metrics that agents are quarantined: their member clusters get nothing until a person acts. */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';

const LOOK_EVERY_MS = 10_000;
/** Told one by one; the metric counts all. */
const TOLD_EACH = 20;

interface Quarantined {
  readonly agentId: string;
  readonly memberCluster: string;
  readonly reason: string | null;
}

@Injectable()
export class QuarantineWatch implements OnApplicationBootstrap, OnModuleDestroy {
  #told: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(DataSource) private readonly dataSource: DataSource,
  ) {}

  onApplicationBootstrap(): void {
    const look = (): void => {
      this.#looking = this.look().catch((error: unknown) => {
        this.runtime.log.warn({ err: error }, 'quarantined agents could not be looked up');
      });
    };
    look();
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** By the index of agents that may not speak. */
  async look(): Promise<void> {
    const rows = await this.dataSource.query<Quarantined[]>(
      `SELECT a.id AS "agentId", m.name AS "memberCluster", a.state_reason AS reason
       FROM agent AS a JOIN member_cluster AS m ON m.id = a.member_cluster_id
       WHERE a.state <> 'ACTIVE' AND a.state = 'QUARANTINED' ORDER BY a.id`,
    );
    this.runtime.metrics.agentsQuarantined.set(rows.length);
    for (const row of rows.filter((each) => !this.#told.has(each.agentId)).slice(0, TOLD_EACH)) {
      this.runtime.log.error(row, 'an agent is quarantined: its member cluster gets nothing until a person has looked');
    }
    this.#told = new Set(rows.map((row) => row.agentId));
  }
}
