import { Controller, Get, Header, HttpException, HttpStatus, Inject } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { Readiness } from '../lifecycle/hub-runtime.ts';
import { Metrics } from './metrics.ts';

const DATABASE_TIMEOUT_MS = 2_000;

/** Liveness asks nothing of others, or one slow database would restart every replica at once (03 rule 13). */
@Controller()
export class HealthController {
  private asking: Promise<boolean> | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Metrics) private readonly metrics: Metrics,
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

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  read(): Promise<string> {
    return this.metrics.registry.metrics();
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
