/**
 * The limits by which every replica judges deletes: the strictest of all that live, whichever is asked. While replicas of old
 * and new settings run side by side, the same delete would else wait at one and pass at the other. A replica says its own
 * again and again; what one that is gone had set stops counting after a while, or at once when it says goodbye.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

import { type HubRuntime, RUNTIME } from '../../../platform/lifecycle/hub-runtime.ts';
import type { DeleteLimits } from './delete-breaker.rules.ts';

const SAY_EVERY_MS = 15_000;
/** Four times unheard. */
const GONE_AFTER = '60 seconds';

export type ReadDeleteLimits = (tx: EntityManager) => Promise<DeleteLimits>;

/** `own` counts in any case: a replica that could not say so for a while must not judge by less. */
export async function readDeleteLimits(tx: EntityManager, own: DeleteLimits): Promise<DeleteLimits> {
  const [row] = await tx.query<DeleteLimits[]>(
    `SELECT least($1::int, min(per_agent)) AS "perAgent", least($2::int, min(per_actor)) AS "perActor",
       least($3::int, min(fleet)) AS fleet
     FROM replica_delete_limits WHERE seen_at > now() - interval '${GONE_AFTER}'`,
    [own.perAgent, own.perActor, own.fleet],
  );
  return row ?? own;
}

@Injectable()
export class DeleteLimitsTeller implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;
  #saying: Promise<void> = Promise.resolve();

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(DataSource) private readonly dataSource: DataSource,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.say();
    const say = (): void => {
      this.#saying = this.say().catch((error: unknown) => {
        this.runtime.log.warn({ err: error }, 'the limits of deletes could not be told to the other replicas');
      });
    };
    this.#timer = setInterval(say, SAY_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saying;
    await this.dataSource
      .query('DELETE FROM replica_delete_limits WHERE replica = $1', [this.runtime.replica])
      .catch(() => undefined);
  }

  async say(): Promise<void> {
    const { replica, config } = this.runtime;
    const { perAgent, perActor, fleet } = config.deleteLimits;
    await this.dataSource.query(
      `INSERT INTO replica_delete_limits (replica, per_agent, per_actor, fleet, seen_at) VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (replica) DO UPDATE SET per_agent = excluded.per_agent, per_actor = excluded.per_actor,
         fleet = excluded.fleet, seen_at = excluded.seen_at`,
      [replica, perAgent, perActor, fleet],
    );
  }
}
