import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Owners whose rows could not be written. Their marks are gone by then, and the claim may go to another replica, so who has still
 * to be counted is in the database. A replica of before does not know the tables: it neither sets apart nor clears.
 */
export class OwnersSetApart1764660000001 implements MigrationInterface {
  readonly name = 'OwnersSetApart1764660000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE rollup_apart (
        member_cluster_id uuid PRIMARY KEY, since timestamptz NOT NULL, next_at timestamptz NOT NULL, tries int NOT NULL,
        sqlstate text NOT NULL);
      COMMENT ON TABLE rollup_apart IS 'member clusters whose counts could not be written: tried again at next_at, apart from the others';
      CREATE TABLE status_unstored (
        hub_uid uuid PRIMARY KEY REFERENCES resource ON DELETE CASCADE, since timestamptz NOT NULL, reason text NOT NULL);
      COMMENT ON COLUMN status_unstored.reason IS 'SQLSTATE, or UNREADABLE';
      COMMENT ON TABLE status_unstored IS 'objects whose last status could not be stored: what is shown of them is of before'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rollup_apart, status_unstored');
  }
}
