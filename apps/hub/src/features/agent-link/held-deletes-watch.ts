/**
 * Tells whoever watches logs and metrics that deletes wait for a person. A script that deletes by mistake is seen here
 * first, and one that means it would else wait unseen.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';

const LOOK_EVERY_MS = 10_000;
/** Told one by one; the metric counts all. */
const TOLD_EACH = 20;

interface Held {
  readonly hubUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly memberCluster: string;
  readonly since: Date;
}

@Injectable()
export class HeldDeletesWatch implements OnApplicationBootstrap, OnModuleDestroy {
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
        this.runtime.log.warn({ err: error }, 'deletes that wait for an approval could not be looked up');
      });
    };
    look();
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** By the index of what is held. */
  async look(): Promise<void> {
    const rows = await this.dataSource.query<Held[]>(
      `SELECT r.hub_uid AS "hubUid", r.namespace, r.name, m.name AS "memberCluster", r.deletion_held_at AS since
       FROM resource AS r JOIN member_cluster AS m ON m.id = r.member_cluster_id
       WHERE r.deletion_held_at IS NOT NULL AND r.deletion = 'DELETE' ORDER BY r.hub_uid`,
    );
    this.runtime.metrics.deletesHeld.set(rows.length);
    for (const row of rows.filter((each) => !this.#told.has(each.hubUid)).slice(0, TOLD_EACH)) {
      this.runtime.log.warn(
        row,
        'a delete is held back by the breaker: it waits for approveDeletes, or forget the object',
      );
    }
    this.#told = new Set(rows.map((row) => row.hubUid));
  }
}
