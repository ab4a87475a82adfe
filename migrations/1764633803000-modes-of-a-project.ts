import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The wanted mode as a column. Inside the text of the spec PostgreSQL counts reading it as next to nothing, and so walks
 * along the list and parses the spec of each object there in place of using an index. Writes the table anew: 3 s at
 * 100,000 RedisClusters. A hub of before names its columns and does not notice.
 */
export class ModesOfAProject1764633803000 implements MigrationInterface {
  readonly name = 'ModesOfAProject1764633803000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX resource_live_mode;
      ALTER TABLE resource ADD COLUMN mode text GENERATED ALWAYS AS (spec::jsonb ->> 'mode') STORED;
      CREATE INDEX resource_live_mode ON resource (mode, hub_uid) WHERE deleted_at IS NULL;
      CREATE INDEX resource_live_project_mode ON resource (project_id, mode, hub_uid) WHERE deleted_at IS NULL;
      ANALYZE resource (mode);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE resource DROP COLUMN mode;
      CREATE INDEX resource_live_mode ON resource ((spec::jsonb ->> 'mode'), hub_uid) WHERE deleted_at IS NULL;`);
  }
}
