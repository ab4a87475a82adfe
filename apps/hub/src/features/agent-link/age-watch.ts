/**
 * Tells metrics, the log and `/readyz` how old the oldest work is that is not done: status that is not stored, counts that are
 * not folded. Every replica looks, since whoever has the claim of the fold may be the one that cannot do it.
 */
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';

import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { findConcerns } from './age-watch.rules.ts';
import { LINK_PARTS, type LinkParts } from './connections/link-parts.ts';

const LOOK_EVERY_MS = 10_000;

/** Tables of a row, and of few. */
const LOOK = `SELECT extract(epoch FROM now() - (SELECT folded_at FROM health_rollup_head))::float8 * 1000 AS "foldMs",
  (SELECT count(*) FROM rollup_apart) AS "foldsApart", (SELECT count(*) FROM status_unstored) AS unstored`;

interface Found {
  readonly foldMs: number | null;
  readonly foldsApart: number;
  readonly unstored: number;
}

@Injectable()
export class AgeWatch implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #told = '';

  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(LINK_PARTS) private readonly link: LinkParts,
  ) {}

  onApplicationBootstrap(): void {
    const look = (): void => {
      this.#looking = this.look().catch((error: unknown) => {
        this.runtime.log.warn({ err: error }, 'the age of the counts could not be looked up');
      });
    };
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async look(): Promise<void> {
    const { dataSource, metrics } = this.runtime;
    const [found] = await dataSource.query<Found[]>(LOOK);
    const { foldMs = null, foldsApart = 0, unstored = 0 } = found ?? {};
    metrics.foldAge.set((foldMs ?? 0) / 1_000);
    metrics.setApart.set({ work: 'fold' }, foldsApart);
    metrics.statusUnstored.set(unstored);
    this.#tell(findConcerns({ statusMs: this.link.status.oldestMs, foldMs, foldsApart }));
  }

  #tell(concerns: ReturnType<typeof findConcerns>): void {
    const { log, readiness } = this.runtime;
    readiness.concerns = concerns;
    const codes = concerns.map(({ code }) => code).join(' ');
    if (codes === this.#told) return;
    this.#told = codes;
    for (const concern of concerns) log.error({ code: concern.code }, concern.message);
    if (concerns.length === 0) log.info('status is stored and counts are folded again');
  }
}
