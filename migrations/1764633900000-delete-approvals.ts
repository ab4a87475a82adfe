import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who asked for a delete, what the breaker made of it, and what a person approved. All columns may be null: a hub of
 * before leaves them out, and its deletes are judged when they are due to be sent.
 */
export class DeleteApprovals1764633900000 implements MigrationInterface {
  readonly name = 'DeleteApprovals1764633900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE resource ADD COLUMN deletion_actor text, ADD COLUMN deletion_held_at timestamptz;
      ALTER TABLE tombstone_release ADD COLUMN actor text, ADD COLUMN approval_id uuid;
      CREATE TABLE delete_approval (
        id uuid PRIMARY KEY, hub_uids uuid[] NOT NULL, approved_by text NOT NULL, approved_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL);
      COMMENT ON COLUMN resource.deletion_actor IS 'id of the principal whose mutation asked for the delete';
      COMMENT ON COLUMN resource.deletion_held_at IS 'since when the breaker holds the delete back; it waits for an approval';
      COMMENT ON COLUMN tombstone_release.approval_id IS 'let through by a person: not counted by the breaker'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE delete_approval;
      ALTER TABLE tombstone_release DROP COLUMN actor, DROP COLUMN approval_id;
      ALTER TABLE resource DROP COLUMN deletion_actor, DROP COLUMN deletion_held_at`);
  }
}
