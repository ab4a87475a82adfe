import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nobody looks for a line by its time and number, and each of a thousand lines a second wrote into that index. */
export class SlimmerChangeLog1764633802000 implements MigrationInterface {
  readonly name = 'SlimmerChangeLog1764633802000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE change_log DROP CONSTRAINT change_log_pkey');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE change_log ADD PRIMARY KEY (at, id)');
  }
}
