import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which Kubernetes uids the object is known: what the agent said with its last outcome, and what its status says. None while it
 * may still be created, since the agent may have made one that was not heard of yet; and none where the status says that it is
 * gone while it was written since, of which an older agent, or a replica of before, told no uid.
 */
const KNOW = `
  ALTER TABLE resource ADD COLUMN told_uid text, ADD COLUMN uids_after_session bigint, ADD COLUMN deletion_uids text[];
  COMMENT ON COLUMN resource.told_uid IS 'Kubernetes uid of the object, as the agent said it with its last outcome';
  COMMENT ON COLUMN resource.uids_after_session IS 'status of this session or before is of another member cluster; its uid counts no more';
  COMMENT ON COLUMN resource.deletion_uids IS 'uids by which the object was known when its delete was asked for or approved';
  CREATE FUNCTION known_uids(wanted resource) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
  DECLARE seen record; uids text[];
  BEGIN
    IF wanted.create_allowed THEN RETURN NULL; END IF;
    SELECT s.kube_uid, s.gone INTO seen FROM resource_status AS s
      WHERE s.hub_uid = wanted.hub_uid AND s.session_no > coalesce(wanted.uids_after_session, -1);
    uids := array_remove(ARRAY[wanted.told_uid, nullif(seen.kube_uid, wanted.told_uid)], NULL);
    IF seen.gone AND cardinality(uids) = 1
        AND EXISTS (SELECT 1 FROM delivery AS d WHERE d.hub_uid = wanted.hub_uid AND d.applied_generation IS NOT NULL) THEN
      RETURN NULL;
    END IF;
    RETURN nullif(uids, '{}');
  END $$`;

/**
 * The wish of a person names what it is about, whatever the release of the replica that writes it down: when the delete is asked
 * for, and when it is approved (the hold is taken off). An approval is not stretched to another object by asking once more; and
 * while a delete is asked for nobody makes its object anew, so what it named stays named where nothing is known any more.
 */
const NAME = `
  CREATE FUNCTION name_what_is_meant() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.deletion = 'DELETE' AND NEW.deletion_held_at IS NOT NULL THEN RETURN NEW; END IF;
    IF OLD.deletion IS DISTINCT FROM 'DELETE' AND OLD.deletion_uids IS NOT NULL AND EXISTS (
        SELECT 1 FROM tombstone_release WHERE hub_uid = NEW.hub_uid AND approval_id IS NOT NULL) THEN
      RETURN NEW;
    END IF;
    NEW.deletion_uids := coalesce(known_uids(NEW), CASE WHEN OLD.deletion = 'DELETE' THEN OLD.deletion_uids END);
    RETURN NEW; END $$;
  CREATE TRIGGER name_what_is_meant BEFORE UPDATE OF deletion, deletion_held_at ON resource FOR EACH ROW
    WHEN (NEW.deletion = 'DELETE') EXECUTE FUNCTION name_what_is_meant();
  CREATE FUNCTION forget_uids_of_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.told_uid := NULL;
    NEW.deletion_uids := NULL;
    NEW.uids_after_session := (SELECT session_no FROM agent_session WHERE agent_id = OLD.agent_id);
    RETURN NEW; END $$;
  CREATE TRIGGER forget_uids_of_moved BEFORE UPDATE OF agent_id ON resource FOR EACH ROW
    WHEN (OLD.agent_id IS DISTINCT FROM NEW.agent_id) EXECUTE FUNCTION forget_uids_of_moved()`;

/**
 * A delete names the Kubernetes object that was known when somebody asked for it, so that one which was put back under the same
 * hubUid is kept. Deletes that wait for their agent over the upgrade name what is known now. A replica of before sends no
 * uids and books none, which is how it was without them.
 */
export class DeletesNameTheirObject1764650000000 implements MigrationInterface {
  readonly name = 'DeletesNameTheirObject1764650000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(KNOW);
    await runner.query(`UPDATE resource AS r SET deletion_uids = known_uids(r) WHERE r.deletion = 'DELETE'`);
    await runner.query(NAME);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER forget_uids_of_moved ON resource;
      DROP TRIGGER name_what_is_meant ON resource;
      DROP FUNCTION forget_uids_of_moved, name_what_is_meant, known_uids;
      ALTER TABLE resource DROP COLUMN told_uid, DROP COLUMN uids_after_session, DROP COLUMN deletion_uids`);
  }
}
