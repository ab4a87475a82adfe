/**
 * Counting. `rollup_entry` says under which key a resource is counted at present; triggers keep `agent_rollup` equal to
 * the count of those entries inside the transaction that changed them, whoever wrote (status, creation, deletion by
 * cascade). So a count can be neither forgotten nor doubled, and dashboards never scan.
 */
const COUNT_BODY = (rows: string): string => `
  INSERT INTO agent_rollup AS r (agent_id, project_id, mode, version, phase, count)
  SELECT agent_id, project_id, mode, version, phase, sum(n) FROM (${rows}) AS changed
  GROUP BY agent_id, project_id, mode, version, phase HAVING sum(n) <> 0
  ORDER BY agent_id, project_id, mode, version, phase
  ON CONFLICT (agent_id, project_id, mode, version, phase) DO UPDATE SET count = r.count + excluded.count;
  RETURN NULL;`;
const ADDED = `SELECT agent_id, project_id, mode, version, phase, 1 AS n FROM added`;
const REMOVED = `SELECT agent_id, project_id, mode, version, phase, -1 AS n FROM removed`;

export const ROLL_UPS = `
CREATE TABLE rollup_entry (
  hub_uid uuid PRIMARY KEY REFERENCES resource ON DELETE CASCADE, agent_id uuid NOT NULL, project_id uuid NOT NULL,
  mode text NOT NULL, version text NOT NULL, phase text NOT NULL) WITH (fillfactor = 80);
CREATE TABLE agent_rollup (
  agent_id uuid NOT NULL, project_id uuid NOT NULL, mode text NOT NULL, version text NOT NULL, phase text NOT NULL,
  count bigint NOT NULL, PRIMARY KEY (agent_id, project_id, mode, version, phase)) WITH (fillfactor = 80);
CREATE FUNCTION count_rollup_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${COUNT_BODY(ADDED)} END $$;
CREATE FUNCTION count_rollup_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${COUNT_BODY(REMOVED)} END $$;
CREATE FUNCTION count_rollup_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${COUNT_BODY(`${ADDED} UNION ALL ${REMOVED}`)} END $$;
CREATE TRIGGER count_insert AFTER INSERT ON rollup_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_rollup_insert();
CREATE TRIGGER count_delete AFTER DELETE ON rollup_entry REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rollup_delete();
CREATE TRIGGER count_update AFTER UPDATE ON rollup_entry REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_rollup_update();
-- one row per (project, region, member cluster, version, mode, phase), written by one claimed worker
CREATE TABLE fleet_rollup (
  group_hash text PRIMARY KEY, group_key jsonb NOT NULL, total bigint NOT NULL, ready bigint NOT NULL,
  degraded bigint NOT NULL, unknown bigint NOT NULL);
CREATE TABLE fleet_rollup_head (one boolean PRIMARY KEY DEFAULT true CHECK (one), folded_at timestamptz NOT NULL);`;
