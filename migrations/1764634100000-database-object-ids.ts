import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By what a logical dump that was restored into the same server is known. Null until a hub of this release has looked. */
export class DatabaseObjectIds1764634100000 implements MigrationInterface {
  readonly name = 'DatabaseObjectIds1764634100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE hub_identity ADD COLUMN object_ids text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE hub_identity DROP COLUMN object_ids');
  }
}
