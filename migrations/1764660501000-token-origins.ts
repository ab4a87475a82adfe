import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where a token came from, and why it ended: one that a later token took the place of may come back when a person says so, one that
 * a person revoked may not. A row of before says neither.
 */
export class TokenOrigins1764660501000 implements MigrationInterface {
  readonly name = 'TokenOrigins1764660501000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_token ADD COLUMN made_by text,
        ADD COLUMN revoked_for text CHECK (revoked_for IN ('REPLACED', 'PERSON'));
      COMMENT ON COLUMN api_token.made_by IS 'file and replica that brought it'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_token DROP COLUMN made_by, DROP COLUMN revoked_for');
  }
}
