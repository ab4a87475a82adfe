import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A hold that names no reason is one of an older release, which knows those of the breaker alone. */
const KEEP_REASONS = `
  ALTER TABLE resource ADD COLUMN deletion_held_for text;
  COMMENT ON COLUMN resource.deletion_held_for IS 'code of what the delete waits for; the code of its delivery may be overwritten';
  ALTER TABLE tombstone_release ADD COLUMN void_of uuid;
  COMMENT ON COLUMN tombstone_release.void_of IS 'the object of a release that was taken back: it lets nothing through, and is counted';
  CREATE FUNCTION keep_hold_reason() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.deletion_held_for := CASE WHEN NEW.deletion_held_at IS NOT NULL
      THEN coalesce(NEW.deletion_held_for, 'DELETE_BREAKER') END;
    RETURN NEW; END $$;
  CREATE TRIGGER keep_hold_reason BEFORE UPDATE OF deletion_held_at, deletion_held_for ON resource FOR EACH ROW
    EXECUTE FUNCTION keep_hold_reason();
  UPDATE resource SET deletion_held_for = 'DELETE_BREAKER' WHERE deletion_held_at IS NOT NULL;
  CREATE FUNCTION take_back_releases(doomed uuid[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM tombstone_release WHERE hub_uid = ANY(doomed) AND approval_id IS NOT NULL;
    UPDATE tombstone_release SET void_of = hub_uid, hub_uid = gen_random_uuid() WHERE hub_uid = ANY(doomed);
  $$`;

const HOLD_WHAT_MOVES = `
  CREATE FUNCTION hold_delete_of_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM take_back_releases(ARRAY[NEW.hub_uid]);
    IF NEW.deletion_held_at IS NULL THEN
      NEW.deletion_held_at := now();
      NEW.deletion_held_for := 'DELETE_BEFORE_REPLACEMENT';
      UPDATE delivery SET state = 'WAITING', code = 'DELETE_BEFORE_REPLACEMENT', retryable = false, next_attempt_at = NULL,
        updated_at = now(), message = 'Asked for before another member cluster took the place of its own; what is there may be '
          'a restored copy, so nothing is deleted before somebody says so again: an ADMIN by the mutation approveDeletes, or '
          'deleteRedisCluster once more. To keep what is in the member cluster instead: forgetRedisCluster.'
        WHERE hub_uid = NEW.hub_uid;
    END IF;
    RETURN NEW; END $$;
  CREATE TRIGGER hold_delete_of_moved BEFORE UPDATE OF agent_id ON resource FOR EACH ROW
    WHEN (NEW.deletion = 'DELETE' AND NEW.deleted_at IS NULL AND OLD.agent_id IS DISTINCT FROM NEW.agent_id)
    EXECUTE FUNCTION hold_delete_of_moved()`;

/**
 * A delete that waits for a person waits in its row: no replica, whatever its settings or its release, lets it through but by
 * an approval. A new hub epoch makes all those wait that were pending, in the transaction that makes it, whoever does:
 * a hub that finds its database restored, or a person by hand. Between the two nothing could be sent. So does a move to
 * another agent. What waits already keeps what it waits for: the breaker waits for an ADMIN, and no later event makes that
 * less. A release that is taken back lets nothing through, but is still counted: the breaker forgets no delete that passed.
 */
export class DeletesThatWait1764640100000 implements MigrationInterface {
  readonly name = 'DeletesThatWait1764640100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(KEEP_REASONS);
    await runner.query(`
      CREATE TABLE replica_delete_limits (
        replica text PRIMARY KEY, per_agent int NOT NULL, per_actor int NOT NULL, fleet int NOT NULL,
        seen_at timestamptz NOT NULL);
      COMMENT ON TABLE replica_delete_limits IS 'settings of the replicas that live; the strictest count, for all of them';
      CREATE FUNCTION hold_deletes(of_agent uuid, why text, what text) RETURNS uuid[] LANGUAGE plpgsql AS $$
      DECLARE doomed uuid[]; fresh uuid[];
      BEGIN
        SELECT array_agg(hub_uid), array_agg(hub_uid) FILTER (WHERE deletion_held_at IS NULL) INTO doomed, fresh FROM (
          SELECT hub_uid, deletion_held_at FROM resource
          WHERE deletion = 'DELETE' AND deleted_at IS NULL AND (of_agent IS NULL OR agent_id = of_agent)
          ORDER BY hub_uid FOR NO KEY UPDATE) AS locked;
        IF doomed IS NULL THEN RETURN '{}'; END IF;
        PERFORM take_back_releases(doomed);
        UPDATE resource SET deletion_held_at = now(), deletion_held_for = why WHERE hub_uid = ANY(fresh);
        UPDATE delivery SET state = 'WAITING', code = why, message = what, retryable = false, next_attempt_at = NULL,
          updated_at = now() WHERE hub_uid = ANY(fresh);
        RETURN doomed;
      END $$;
      COMMENT ON FUNCTION hold_deletes IS 'makes every pending delete (of one agent, or of all) wait for a person';
      CREATE FUNCTION hold_deletes_of_epoch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM hold_deletes(NULL, 'DELETE_BEFORE_RESTORE',
          'Asked for before the database of the hub was restored; what was decided since is lost, so nothing is deleted before '
          'somebody says so again: an ADMIN by the mutation approveDeletes, or deleteRedisCluster once more. '
          'To keep what is in the member cluster instead: forgetRedisCluster.');
        RETURN NULL; END $$;
      CREATE TRIGGER hold_deletes_of_epoch AFTER UPDATE OF hub_epoch ON hub_identity FOR EACH ROW
        WHEN (OLD.hub_epoch IS DISTINCT FROM NEW.hub_epoch) EXECUTE FUNCTION hold_deletes_of_epoch();
      CREATE FUNCTION refuse_release_of_held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT 1 FROM resource
            WHERE hub_uid = NEW.hub_uid AND deletion = 'DELETE' AND deletion_held_at IS NOT NULL) THEN
          RAISE EXCEPTION 'the delete of % waits for a person: only approveDeletes lets it through', NEW.hub_uid;
        END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER refuse_release_of_held BEFORE INSERT ON tombstone_release FOR EACH ROW
        WHEN (NEW.approval_id IS NULL) EXECUTE FUNCTION refuse_release_of_held()`);
    await runner.query(HOLD_WHAT_MOVES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER hold_delete_of_moved ON resource;
      DROP TRIGGER keep_hold_reason ON resource;
      DROP TRIGGER refuse_release_of_held ON tombstone_release;
      DROP TRIGGER hold_deletes_of_epoch ON hub_identity;
      DROP FUNCTION hold_delete_of_moved, refuse_release_of_held, hold_deletes_of_epoch, hold_deletes, take_back_releases,
        keep_hold_reason;
      DELETE FROM tombstone_release WHERE void_of IS NOT NULL;
      ALTER TABLE tombstone_release DROP COLUMN void_of;
      ALTER TABLE resource DROP COLUMN deletion_held_for;
      DROP TABLE replica_delete_limits`);
  }
}
