import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Status is resumed by a digest, and events are stored once. A replica of before writes a `status_hash` of 64 digits of
 * its own, which proves nothing: in a rolling upgrade its rows are simply sent once more.
 */
export class StatusResume1764633700000 implements MigrationInterface {
  readonly name = 'StatusResume1764633700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE agent_status_head ADD COLUMN confirmed_at timestamptz');
    await runner.query(
      `COMMENT ON COLUMN agent_status_head.confirmed_at IS 'when the agent last proved that all stored status is its present one'`,
    );
    await runner.query(
      `COMMENT ON COLUMN resource_status.status_hash IS '32 digits: the hash that the agent told; all zeros: the last full resend lacked the object; else the hub''s own'`,
    );
    await runner.query('CREATE INDEX event_id ON event (id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX event_id');
    await runner.query('ALTER TABLE agent_status_head DROP COLUMN confirmed_at');
  }
}
