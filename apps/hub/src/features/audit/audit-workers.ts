/** Work on the audit in the background, each kind by one replica at a time: its chain, and its rows past their keep. */
import type { Clock } from '#domain';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Logger } from 'pino';
import type { HubConfig } from '../../platform/config/hub-config.ts';
import { ClaimedWorker } from '../../platform/database/claimed-worker.ts';
import { CONFIG, LOG } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { ChainWork } from './chain/chain-work.ts';
import { DEFAULT_KEEP_DAYS, trimWork } from './chain/trim-work.ts';
import { listWaysRoundAudit } from './protection.ts';

const CHAIN_MS = 5_000;
const TRIM_MS = 3_600_000;

@Injectable()
export class AuditWorkers implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #workers: readonly ClaimedWorker[];
  readonly #chain: ChainWork;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(CONFIG) config: HubConfig,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOG) private readonly log: Logger,
  ) {
    const keepDays = config.auditKeepDays ?? DEFAULT_KEEP_DAYS;
    this.#chain = new ChainWork(clock, log);
    this.#workers = [
      new ClaimedWorker(dataSource, { name: 'audit', intervalMs: CHAIN_MS, work: (tx) => this.#chain.work(tx) }, log),
      new ClaimedWorker(
        dataSource,
        { name: 'auditTrim', intervalMs: TRIM_MS, work: (tx) => trimWork(tx, clock, keepDays) },
        log,
      ),
    ];
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const worker of this.#workers) worker.start();
    await this.tellProtection().catch((error: unknown) =>
      this.log.warn({ err: error }, 'whether the role of this hub could undo the audit is not known'),
    );
  }

  private async tellProtection(): Promise<void> {
    const { role, ways } = await listWaysRoundAudit(this.dataSource.manager);
    if (ways.length === 0) this.log.info({ role }, 'the role of this hub may only add to the audit');
    else this.log.info({ code: 'AUDIT_NOT_PROTECTED', role, ways }, NOT_PROTECTED);
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    this.#chain.tellHeads();
  }
}

const NOT_PROTECTED =
  'the role of this hub could undo what keeps the audit append-only; docs/how-to/keep-the-audit.md shows how to give it a role that cannot';
