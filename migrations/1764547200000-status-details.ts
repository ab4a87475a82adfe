import type { MigrationInterface, QueryRunner } from 'typeorm';

/** States of a RedisCluster that are shown and never decided from; a hub of before leaves the default. */
export class StatusDetails1764547200000 implements MigrationInterface {
  readonly name = 'StatusDetails1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE resource_status ADD COLUMN details jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_status DROP COLUMN details');
  }
}
