import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an agent was last found to tell more than the hub keeps of one, so that everybody who looks at it is told. */
export class AgentsOverLimit1764660100001 implements MigrationInterface {
  readonly name = 'AgentsOverLimit1764660100001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE agent_event_usage ADD COLUMN over_limit_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE agent_event_usage DROP COLUMN over_limit_at');
  }
}
