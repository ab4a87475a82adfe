import { Controller, Get, HttpException, HttpStatus, Inject } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

import { asJobOwner } from '../database/job-owner.ts';
import { explainOutage } from '../database/outage-text.ts';
import { AccessDatabase } from '../database/pools.ts';
import { nameOutage, type Outage } from '../database/sql-state.ts';
import { Readiness } from '../lifecycle/hub-runtime.ts';

const DATABASE_TIMEOUT_MS = 2_000;
const LOOK_MS = 100;

/** Liveness asks nothing of others, or one slow database would restart every replica at once (03 rule 13). */
@Controller()
export class HealthController {
  private asking: Promise<Outage | undefined> | undefined;

  constructor(
    @Inject(AccessDatabase) private readonly database: AccessDatabase,
    @Inject(Readiness) private readonly readiness: Readiness,
  ) {}

  @Get('livez')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: string; concerns?: Readiness['concerns'] }> {
    if (this.readiness.draining) throw notReady('DRAINING', 'draining: this replica stops');
    if (!this.readiness.commits.isCommitting) {
      throw notReady('DATABASE_COMMITS_HANG', 'the database does not commit, or did not until a moment ago');
    }
    const outage = this.readiness.outages.current ?? (await this.databaseAnswers());
    if (outage !== undefined) throw notReady(outage, explainOutage(outage));
    const { concerns } = this.readiness;
    return { status: 'ok', ...(concerns.length === 0 ? {} : { concerns }) };
  }

  /** Where they were until release 0.1.0. */
  @Get('metrics')
  read(): never {
    const status = 'metrics are on a listener of their own: http://HUB:8445/metrics (ATOLL_METRICS_PORT)';
    throw new HttpException({ status, code: 'METRICS_MOVED' }, HttpStatus.NOT_FOUND);
  }

  /** One question for all who ask meanwhile: nobody has to log in here, and each question takes a connection. */
  private databaseAnswers(): Promise<Outage | undefined> {
    this.asking ??= this.askDatabase().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /** What it fails of, if it does. */
  private async askDatabase(): Promise<Outage | undefined> {
    const ended = new AbortController();
    const answer = asJobOwner('health', () => this.database.query('SELECT 1')).then(
      () => undefined,
      (error: unknown) => {
        this.readiness.outages.note(error);
        return nameOutage(error) ?? 'DATABASE_SILENT';
      },
    );
    return Promise.race([answer, this.silence(ended.signal)]).finally(() => ended.abort());
  }

  /** Resolves when this process was awake for so long: an answer that waits in the socket of a busy one is none of silence. */
  private async silence(ended: AbortSignal): Promise<Outage> {
    const { awake } = this.readiness;
    const untilMs = awake.nowMs() + DATABASE_TIMEOUT_MS;
    while (!ended.aborted && awake.nowMs() < untilMs) await sleep(Math.min(LOOK_MS, untilMs - awake.nowMs()));
    return 'DATABASE_SILENT';
  }
}

const notReady = (code: string, status: string): HttpException =>
  new HttpException({ status, code }, HttpStatus.SERVICE_UNAVAILABLE);
