import { Controller, Get, HttpException, HttpStatus, Inject } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { Readiness } from '../lifecycle/hub-runtime.ts';

const DATABASE_TIMEOUT_MS = 2_000;

/** Liveness asks nothing of others, or one slow database would restart every replica at once (03 rule 13). */
@Controller()
export class HealthController {
  private asking: Promise<boolean> | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Readiness) private readonly readiness: Readiness,
  ) {}

  @Get('livez')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: string }> {
    if (this.readiness.draining) throw notReady('DRAINING', 'draining: this replica stops');
    if (!this.readiness.commits.isCommitting) {
      throw notReady('DATABASE_COMMITS_HANG', 'the database does not commit, or did not until a moment ago');
    }
    if (!(await this.databaseAnswers())) throw notReady('DATABASE_SILENT', 'the database does not answer');
    return { status: 'ok' };
  }

  /** Where they were until release 0.1.0. */
  @Get('metrics')
  read(): never {
    const status = 'metrics are on a listener of their own: http://HUB:8445/metrics (ATOLL_METRICS_PORT)';
    throw new HttpException({ status, code: 'METRICS_MOVED' }, HttpStatus.NOT_FOUND);
  }

  /** One question for all who ask meanwhile: nobody has to log in here, and each question takes a connection. */
  private databaseAnswers(): Promise<boolean> {
    this.asking ??= this.askDatabase().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async askDatabase(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((done) => (timer = setTimeout(() => done(false), DATABASE_TIMEOUT_MS)));
    const answer = this.dataSource.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }
}

const notReady = (code: string, status: string): HttpException =>
  new HttpException({ status, code }, HttpStatus.SERVICE_UNAVAILABLE);
