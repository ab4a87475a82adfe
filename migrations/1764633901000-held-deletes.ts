import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deletes that wait for a person are few; whoever looks for them must not read the fleet. */
export class HeldDeletes1764633901000 implements MigrationInterface {
  readonly name = 'HeldDeletes1764633901000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX resource_held ON resource (hub_uid) WHERE deletion_held_at IS NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX resource_held');
  }
}
