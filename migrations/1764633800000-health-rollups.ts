import type { MigrationInterface, QueryRunner } from 'typeorm';

import { HEALTH_ROLL_UPS, MARKS, UNDO_HEALTH_ROLL_UPS } from './health-rollups.ts';

/** Counts for dashboards that are folded from marks. `fleet_rollup` stays for hubs of before, which fold it themselves. */
export class HealthRollups1764633800000 implements MigrationInterface {
  readonly name = 'HealthRollups1764633800000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [HEALTH_ROLL_UPS, MARKS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(UNDO_HEALTH_ROLL_UPS);
  }
}
