/**
 * Counts for dashboards, and the marks they are kept from. A mark says "count this again": what an agent runs changed,
 * its verdict, its state, its member cluster, or the region of that. Triggers write it in the transaction that made the
 * change, whoever wrote. Marks are only ever appended, without any unique index: so no writer waits for another or for
 * the worker, and a mark that commits after the worker looked is still there when it looks again.
 */
const COUNTS = `total bigint NOT NULL, ready bigint NOT NULL, degraded bigint NOT NULL, unknown bigint NOT NULL, late bigint NOT NULL`;

export const HEALTH_ROLL_UPS = `
-- emptied twice a second, so it must not wait for a fifth of a table that is always empty
CREATE TABLE rollup_mark (agent_id uuid, member_cluster_id uuid) WITH (autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);
-- region: as it was counted, '' when the member cluster has none; both tables are written by one claimed worker
CREATE TABLE member_cluster_rollup (
  member_cluster_id uuid NOT NULL, project_id uuid NOT NULL, version text NOT NULL, mode text NOT NULL, phase text NOT NULL,
  region text NOT NULL, ${COUNTS},
  PRIMARY KEY (member_cluster_id, project_id, version, mode, phase)) WITH (fillfactor = 80);
CREATE INDEX member_cluster_rollup_project ON member_cluster_rollup (project_id, member_cluster_id);
-- project 00000000-0000-0000-0000-000000000000: all projects together
CREATE TABLE region_rollup (
  project_id uuid NOT NULL, region text NOT NULL, version text NOT NULL, mode text NOT NULL, phase text NOT NULL, ${COUNTS},
  PRIMARY KEY (project_id, region, version, mode, phase)) WITH (fillfactor = 50);
CREATE TABLE health_rollup_head (one boolean PRIMARY KEY DEFAULT true CHECK (one), folded_at timestamptz NOT NULL);
CREATE INDEX agent_member_cluster ON agent (member_cluster_id);
CREATE INDEX agent_muted ON agent (id) WHERE state <> 'ACTIVE';
-- since when a mass verdict waits for its second look; kept here, since another replica may take that look
ALTER TABLE liveness_pulse ADD COLUMN mass_since timestamptz;`;

export const MARKS = `
CREATE FUNCTION mark_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO rollup_mark (agent_id) SELECT DISTINCT agent_id FROM counted; RETURN NULL; END $$;
CREATE TRIGGER mark_insert AFTER INSERT ON agent_rollup REFERENCING NEW TABLE AS counted
  FOR EACH STATEMENT EXECUTE FUNCTION mark_counted();
CREATE TRIGGER mark_update AFTER UPDATE ON agent_rollup REFERENCING NEW TABLE AS counted
  FOR EACH STATEMENT EXECUTE FUNCTION mark_counted();
CREATE FUNCTION mark_seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO rollup_mark (agent_id) VALUES (NEW.agent_id); RETURN NULL; END $$;
CREATE TRIGGER mark_first_seen AFTER INSERT ON agent_seen FOR EACH ROW EXECUTE FUNCTION mark_seen();
CREATE TRIGGER mark_verdict AFTER UPDATE OF verdict ON agent_seen FOR EACH ROW
  WHEN (OLD.verdict IS DISTINCT FROM NEW.verdict) EXECUTE FUNCTION mark_seen();
-- the place it leaves is marked by its own name: a later look finds the agent at its new place only
CREATE FUNCTION mark_agent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO rollup_mark (agent_id, member_cluster_id) VALUES (OLD.id, NULL), (NULL, OLD.member_cluster_id); RETURN NULL; END $$;
CREATE TRIGGER mark_agent AFTER UPDATE OF state, member_cluster_id ON agent FOR EACH ROW
  WHEN ((OLD.state, OLD.member_cluster_id) IS DISTINCT FROM (NEW.state, NEW.member_cluster_id)) EXECUTE FUNCTION mark_agent();
CREATE TRIGGER mark_agent_deleted AFTER DELETE ON agent FOR EACH ROW EXECUTE FUNCTION mark_agent();
CREATE FUNCTION mark_member_cluster() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO rollup_mark (member_cluster_id) VALUES (OLD.id); RETURN NULL; END $$;
CREATE TRIGGER mark_region AFTER UPDATE OF region, state ON member_cluster FOR EACH ROW
  WHEN ((OLD.region, OLD.state) IS DISTINCT FROM (NEW.region, NEW.state)) EXECUTE FUNCTION mark_member_cluster();
CREATE TRIGGER mark_member_cluster_deleted AFTER DELETE ON member_cluster FOR EACH ROW EXECUTE FUNCTION mark_member_cluster();`;

export const UNDO_HEALTH_ROLL_UPS = `
DROP FUNCTION mark_counted, mark_seen, mark_agent, mark_member_cluster CASCADE;
ALTER TABLE liveness_pulse DROP COLUMN mass_since;
DROP INDEX agent_member_cluster, agent_muted;
DROP TABLE rollup_mark, member_cluster_rollup, region_rollup, health_rollup_head;`;
