import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the filters of the list of RedisClusters find their first page by, in its order (hub_uid). Those on columns that
 * change are partial where most rows are of one value, so that the usual update stays within its page.
 */
const INDEXES = `
CREATE INDEX resource_live_project ON resource (project_id, hub_uid) WHERE deleted_at IS NULL;
CREATE INDEX resource_live_namespace ON resource (namespace, hub_uid) WHERE deleted_at IS NULL;
CREATE INDEX resource_live_name ON resource (name, hub_uid) WHERE deleted_at IS NULL;
CREATE INDEX resource_live_mode ON resource ((spec::jsonb ->> 'mode'), hub_uid) WHERE deleted_at IS NULL;
CREATE INDEX resource_leaving ON resource (hub_uid) WHERE deletion IS NOT NULL;
CREATE INDEX delivery_not_applied ON delivery (state, hub_uid) WHERE state <> 'APPLIED';
CREATE INDEX delivery_contested ON delivery (hub_uid) WHERE contested IS NOT NULL;
CREATE INDEX resource_status_phase ON resource_status (phase, hub_uid);
CREATE INDEX resource_status_gone ON resource_status (hub_uid) WHERE gone;
CREATE INDEX resource_status_foreign ON resource_status (hub_uid) WHERE foreign_fields <> '[]';
-- in place of resource_agent: counted by freshness from the index alone
CREATE INDEX resource_of_agent ON resource (agent_id, hub_uid) INCLUDE (deleted_at);
DROP INDEX resource_project, resource_agent;`;

const UNDO = `
CREATE INDEX resource_agent ON resource (agent_id, hub_uid);
CREATE INDEX resource_project ON resource (project_id, hub_uid);
DROP INDEX resource_live_project, resource_of_agent, resource_live_namespace, resource_live_name, resource_live_mode,
  resource_leaving, delivery_not_applied, delivery_contested, resource_status_phase, resource_status_gone, resource_status_foreign;`;

export class ListIndexes1764633801000 implements MigrationInterface {
  readonly name = 'ListIndexes1764633801000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INDEXES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(UNDO);
  }
}
