import { Controller, Get, Header, HttpException, HttpStatus, Inject } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { Readiness } from '../lifecycle/hub-runtime.ts';
import { Metrics } from './metrics.ts';

const DATABASE_TIMEOUT_MS = 2_000;

/** Liveness asks nothing of others, or one slow database would restart every replica at once (03 rule 13). */
@Controller()
export class HealthController {
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
    if (this.readiness.draining) throw new HttpException({ status: 'draining' }, HttpStatus.SERVICE_UNAVAILABLE);
    if (!(await this.databaseAnswers())) {
      throw new HttpException({ status: 'the database does not answer' }, HttpStatus.SERVICE_UNAVAILABLE);
    }
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  read(): Promise<string> {
    return this.metrics.registry.metrics();
  }

  private async databaseAnswers(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((done) => (timer = setTimeout(() => done(false), DATABASE_TIMEOUT_MS)));
    const answer = this.dataSource.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }
}
