import type { MigrationInterface, QueryRunner } from 'typeorm';

import { ROLL_UPS } from './foundation-rollups.ts';
import { AGENTS, DESIRED_STATE, HUB_AND_ACCESS, OBSERVED_STATE } from './foundation-tables.ts';

export class Foundation1764460800000 implements MigrationInterface {
  readonly name = 'Foundation1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [HUB_AND_ACCESS, AGENTS, DESIRED_STATE, OBSERVED_STATE, ROLL_UPS]) {
      await runner.query(statements);
    }
  }

  /** There is nothing below the foundation: going back from it would be losing the fleet. */
  down(): Promise<void> {
    return Promise.reject(new Error('the foundation cannot be reverted; restore a backup instead'));
  }
}
