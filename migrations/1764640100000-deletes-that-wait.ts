import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A delete that waits for a person waits in its row: no replica, whatever its settings or its release, lets it through but by
 * an approval. A new hub epoch makes all those wait that were pending, in the transaction that makes it, whoever does:
 * a hub that finds its database restored, or a person by hand. Between the two nothing could be sent.
 */
export class DeletesThatWait1764640100000 implements MigrationInterface {
  readonly name = 'DeletesThatWait1764640100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE replica_delete_limits (
        replica text PRIMARY KEY, per_agent int NOT NULL, per_actor int NOT NULL, fleet int NOT NULL,
        seen_at timestamptz NOT NULL);
      COMMENT ON TABLE replica_delete_limits IS 'settings of the replicas that live; the strictest count, for all of them';
      CREATE FUNCTION hold_deletes(of_agent uuid, why text, what text) RETURNS uuid[] LANGUAGE plpgsql AS $$
      DECLARE doomed uuid[];
      BEGIN
        SELECT array_agg(hub_uid) INTO doomed FROM (
          SELECT hub_uid FROM resource
          WHERE deletion = 'DELETE' AND deleted_at IS NULL AND (of_agent IS NULL OR agent_id = of_agent)
          ORDER BY hub_uid FOR NO KEY UPDATE) AS locked;
        IF doomed IS NULL THEN RETURN '{}'; END IF;
        DELETE FROM tombstone_release WHERE hub_uid = ANY(doomed);
        UPDATE resource SET deletion_held_at = now() WHERE hub_uid = ANY(doomed);
        UPDATE delivery SET state = 'WAITING', code = why, message = what, retryable = false, next_attempt_at = NULL,
          updated_at = now() WHERE hub_uid = ANY(doomed);
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
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER refuse_release_of_held ON tombstone_release;
      DROP TRIGGER hold_deletes_of_epoch ON hub_identity;
      DROP FUNCTION refuse_release_of_held, hold_deletes_of_epoch, hold_deletes;
      DROP TABLE replica_delete_limits`);
  }
}
