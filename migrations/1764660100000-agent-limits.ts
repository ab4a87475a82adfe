import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How much the hub keeps for one agent: local objects and their bytes, counted by triggers so that every replica, also one
 * of before, counts alike; and the events of the present minute. Both are apart from other rows of the agent, since their
 * writers must not wait for a Hello or a status head.
 */
const COUNT_LOCAL_OBJECTS = `
CREATE FUNCTION count_local_objects() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO agent_local_usage AS u (agent_id, objects, bytes)
      SELECT agent_id, count(*), sum(bytes) FROM added GROUP BY agent_id
      ON CONFLICT (agent_id) DO UPDATE SET objects = u.objects + excluded.objects, bytes = u.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE agent_local_usage AS u SET objects = u.objects - r.objects, bytes = u.bytes - r.bytes
      FROM (SELECT agent_id, count(*) AS objects, sum(bytes) AS bytes FROM removed GROUP BY agent_id) AS r
      WHERE u.agent_id = r.agent_id;
  ELSE
    UPDATE agent_local_usage AS u SET bytes = u.bytes + d.bytes
      FROM (SELECT agent_id, sum(bytes) AS bytes
        FROM (SELECT agent_id, bytes FROM added UNION ALL SELECT agent_id, -bytes FROM removed) AS changes GROUP BY agent_id) AS d
      WHERE u.agent_id = d.agent_id AND d.bytes <> 0;
  END IF;
  RETURN NULL;
END $$`;

export class AgentLimits1764660100000 implements MigrationInterface {
  readonly name = 'AgentLimits1764660100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE local_object ADD COLUMN bytes int GENERATED ALWAYS AS (octet_length(item::text)) STORED`,
    );
    await runner.query(
      `CREATE TABLE agent_local_usage (agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE,
         objects int NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0) WITH (fillfactor = 70)`,
    );
    await runner.query(
      `CREATE TABLE agent_event_usage (agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE,
         minute_at timestamptz NOT NULL, minute_count int NOT NULL, untrimmed int NOT NULL DEFAULT 0) WITH (fillfactor = 70)`,
    );
    await runner.query(
      `COMMENT ON COLUMN agent_event_usage.untrimmed IS 'events stored since it was last looked whether the agent has too many'`,
    );
    await runner.query('CREATE INDEX event_agent ON event (agent_id, at)');
    await runner.query(
      'INSERT INTO agent_local_usage (agent_id, objects, bytes) SELECT agent_id, count(*), sum(bytes) FROM local_object GROUP BY agent_id',
    );
    await runner.query(COUNT_LOCAL_OBJECTS);
    await runner.query(
      `CREATE TRIGGER local_object_added AFTER INSERT ON local_object REFERENCING NEW TABLE AS added
         FOR EACH STATEMENT EXECUTE FUNCTION count_local_objects()`,
    );
    await runner.query(
      `CREATE TRIGGER local_object_changed AFTER UPDATE ON local_object REFERENCING NEW TABLE AS added OLD TABLE AS removed
         FOR EACH STATEMENT EXECUTE FUNCTION count_local_objects()`,
    );
    await runner.query(
      `CREATE TRIGGER local_object_removed AFTER DELETE ON local_object REFERENCING OLD TABLE AS removed
         FOR EACH STATEMENT EXECUTE FUNCTION count_local_objects()`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of ['added', 'changed', 'removed']) {
      await runner.query(`DROP TRIGGER local_object_${name} ON local_object`);
    }
    await runner.query('DROP FUNCTION count_local_objects()');
    await runner.query('DROP INDEX event_agent');
    await runner.query('DROP TABLE agent_event_usage');
    await runner.query('DROP TABLE agent_local_usage');
    await runner.query('ALTER TABLE local_object DROP COLUMN bytes');
  }
}
