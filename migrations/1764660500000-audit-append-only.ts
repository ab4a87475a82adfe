import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The chain of rows that belong to no project. */
const FLEET = `'00000000-0000-0000-0000-000000000000'::uuid`;
/** No setting removes rows that are younger: a hub that was taken over could else empty the audit by its own setting. */
const LEAST_KEPT = `interval '30 days'`;
const TRIGGER_FUNCTIONS = ['audit_keep_new', 'audit_keep_row', 'audit_keep_checkpoint', 'audit_refuse'];

const COLUMNS = `
  ALTER TABLE audit ADD COLUMN count int NOT NULL DEFAULT 1, ADD COLUMN last_at timestamptz, ADD COLUMN chained_at timestamptz;
  COMMENT ON COLUMN audit.count IS 'how many refusals the row stands for; the first was at "at", the last at "last_at"';
  COMMENT ON COLUMN audit.chained_at IS 'by the clock of the database, which decides when the row may leave';
  CREATE INDEX audit_unchained ON audit (seq) WHERE chain_no IS NULL;
  CREATE UNIQUE INDEX audit_chain ON audit ((coalesce(project_id, ${FLEET})), chain_no) WHERE chain_no IS NOT NULL;
  CREATE TABLE audit_checkpoint (
    chain uuid PRIMARY KEY, chain_no bigint NOT NULL, chain_hash text NOT NULL, moved_at timestamptz NOT NULL,
    moved_by text NOT NULL);
  COMMENT ON TABLE audit_checkpoint IS 'where the kept part of a chain begins: its rows up to chain_no were removed for their age'`;

/** A temporary table named like one of ours would else be looked into. */
const settings = (schema: string): string => `SET search_path = "${schema.replaceAll('"', '""')}", pg_temp`;

const triggerFunctions = (schema: string): string => `
  CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql ${settings(schema)} AS $$ BEGIN
    RAISE EXCEPTION 'the audit is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = '42501',
      HINT = 'Rows leave only past their retention, by trim_audit().';
  END $$;
  CREATE FUNCTION audit_keep_new() RETURNS trigger LANGUAGE plpgsql ${settings(schema)} AS $$ BEGIN
    RAISE EXCEPTION 'the audit is append-only: a new row has no place in a chain yet' USING ERRCODE = '42501';
  END $$;
  CREATE FUNCTION audit_keep_row() RETURNS trigger LANGUAGE plpgsql ${settings(schema)} AS $$ BEGIN
    IF TG_OP = 'DELETE' THEN
      IF OLD.chained_at < now() - ${LEAST_KEPT} AND EXISTS (SELECT 1 FROM audit_checkpoint AS c
          WHERE c.chain = coalesce(OLD.project_id, ${FLEET}) AND c.chain_no >= OLD.chain_no) THEN
        RETURN OLD;
      END IF;
    ELSIF OLD.chain_no IS NULL AND OLD.chain_hash IS NULL AND NEW.chain_no IS NOT NULL AND NEW.chain_hash IS NOT NULL THEN
      NEW.chained_at := now();
      OLD.chain_no := NEW.chain_no;
      OLD.chain_hash := NEW.chain_hash;
      OLD.chained_at := NEW.chained_at;
      IF NEW IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION 'the audit is append-only: % of its row % is refused', TG_OP, OLD.seq USING ERRCODE = '42501',
      HINT = 'Rows leave only past their retention, by trim_audit().';
  END $$;
  CREATE FUNCTION audit_keep_checkpoint() RETURNS trigger LANGUAGE plpgsql ${settings(schema)} AS $$ BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.chain <> OLD.chain OR NEW.chain_no <= OLD.chain_no) OR NOT EXISTS (SELECT 1 FROM audit AS a
        WHERE coalesce(a.project_id, ${FLEET}) = NEW.chain AND a.chain_no = NEW.chain_no AND a.chain_hash = NEW.chain_hash
          AND a.chained_at < now() - ${LEAST_KEPT}) THEN
      RAISE EXCEPTION 'the audit is append-only: the checkpoint of chain % may only move on, to a row of its own that is old enough',
        NEW.chain USING ERRCODE = '42501';
    END IF;
    NEW.moved_at := now();
    NEW.moved_by := session_user;
    RETURN NEW;
  END $$;
`;

/** With the rights of the owner of the table, for a hub whose role may only add to it. */
const trimFunction = (schema: string): string => `
  CREATE FUNCTION trim_audit(keep_days int, most int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER ${settings(schema)} AS $$
  DECLARE
    age interval := make_interval(days => keep_days); next uuid; cut record; gone int; total int := 0;
  BEGIN
    IF keep_days IS NULL OR age < ${LEAST_KEPT} THEN
      RAISE EXCEPTION 'the audit keeps its rows for 30 days at least, not for %', keep_days USING ERRCODE = '22023';
    END IF;
    next := (SELECT coalesce(project_id, ${FLEET}) FROM audit WHERE chain_no IS NOT NULL
      ORDER BY coalesce(project_id, ${FLEET}), chain_no LIMIT 1);
    WHILE next IS NOT NULL AND total < most LOOP
      SELECT chain_no, chain_hash INTO cut FROM (
        SELECT chain_no, chain_hash, bool_and(chained_at < now() - age) OVER (ORDER BY chain_no) AS is_old FROM (
          SELECT chain_no, chain_hash, chained_at FROM audit
          WHERE coalesce(project_id, ${FLEET}) = next AND chain_no IS NOT NULL ORDER BY chain_no LIMIT most - total) AS first
        ) AS judged WHERE is_old ORDER BY chain_no DESC LIMIT 1;
      IF FOUND THEN
        INSERT INTO audit_checkpoint (chain, chain_no, chain_hash) VALUES (next, cut.chain_no, cut.chain_hash)
          ON CONFLICT (chain) DO UPDATE SET chain_no = excluded.chain_no, chain_hash = excluded.chain_hash;
        DELETE FROM audit WHERE coalesce(project_id, ${FLEET}) = next AND chain_no <= cut.chain_no;
        GET DIAGNOSTICS gone = ROW_COUNT;
        total := total + gone;
      END IF;
      next := (SELECT coalesce(project_id, ${FLEET}) FROM audit WHERE chain_no IS NOT NULL
        AND coalesce(project_id, ${FLEET}) > next ORDER BY coalesce(project_id, ${FLEET}), chain_no LIMIT 1);
    END LOOP;
    RETURN total;
  END $$;
  COMMENT ON FUNCTION trim_audit IS 'removes the oldest rows of each chain that are past keep_days, and leaves a checkpoint';
  REVOKE ALL ON FUNCTION trim_audit FROM PUBLIC`;

/** ALWAYS: also for a session that calls itself a replica. New rows are let through there, since a subscriber copies whole ones. */
const TRIGGERS = `
  CREATE TRIGGER audit_keep_new BEFORE INSERT ON audit FOR EACH ROW
    WHEN (NEW.chain_no IS NOT NULL OR NEW.chain_hash IS NOT NULL OR NEW.chained_at IS NOT NULL)
    EXECUTE FUNCTION audit_keep_new();
  CREATE TRIGGER audit_keep_row BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_keep_row();
  CREATE TRIGGER audit_refuse BEFORE TRUNCATE ON audit EXECUTE FUNCTION audit_refuse();
  CREATE TRIGGER audit_keep_checkpoint BEFORE INSERT OR UPDATE ON audit_checkpoint FOR EACH ROW
    EXECUTE FUNCTION audit_keep_checkpoint();
  CREATE TRIGGER audit_refuse BEFORE DELETE OR TRUNCATE ON audit_checkpoint EXECUTE FUNCTION audit_refuse();
  ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row, ENABLE ALWAYS TRIGGER audit_refuse;
  ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER audit_keep_checkpoint, ENABLE ALWAYS TRIGGER audit_refuse`;

/**
 * The audit is append-only by triggers. A row gets its place in a chain once, and leaves only when it is old and a checkpoint
 * stands for it. Rows of before get theirs from the running hub, a few hundred at a time: the migration itself adds columns
 * and two indexes. A replica of before inserts as it did.
 */
export class AuditAppendOnly1764660500000 implements MigrationInterface {
  readonly name = 'AuditAppendOnly1764660500000';

  async up(runner: QueryRunner): Promise<void> {
    const [row] = (await runner.query('SELECT current_schema() AS schema')) as { schema: string }[];
    await runner.query(COLUMNS);
    const schema = row?.schema ?? 'public';
    await runner.query(triggerFunctions(schema));
    await runner.query(trimFunction(schema));
    await runner.query(TRIGGERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE audit_checkpoint;
      DROP TRIGGER audit_keep_new ON audit;
      DROP TRIGGER audit_keep_row ON audit;
      DROP TRIGGER audit_refuse ON audit;
      DROP FUNCTION trim_audit, ${TRIGGER_FUNCTIONS.join(', ')};
      DROP INDEX audit_chain;
      DROP INDEX audit_unchained;
      ALTER TABLE audit DROP COLUMN count, DROP COLUMN last_at, DROP COLUMN chained_at`);
  }
}
