import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Numbers of an object may be told by another agent than its own: the one that operates its namespace. A replica of before
 * does not know the column, and clears such numbers with the next status of the object's own agent; they come again.
 */
export class GuestNumbers1764640300000 implements MigrationInterface {
  readonly name = 'GuestNumbers1764640300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_status ADD COLUMN numbers_by uuid');
    await runner.query(
      `COMMENT ON COLUMN resource_status.numbers_by IS 'the agent that told numbers, when it is not the agent of the object'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_status DROP COLUMN numbers_by');
  }
}
