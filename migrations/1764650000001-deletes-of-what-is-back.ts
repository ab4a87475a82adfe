import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deletes that their agent refuses until a person approves them again are few; whoever looks for them must not read the fleet. */
export class DeletesOfWhatIsBack1764650000001 implements MigrationInterface {
  readonly name = 'DeletesOfWhatIsBack1764650000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX delivery_is_back ON delivery (hub_uid) WHERE code = 'DELETED_OBJECT_IS_BACK'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX delivery_is_back');
  }
}
