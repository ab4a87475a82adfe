/** One row of desired state as the link sends it. */
import type { Tombstone, Upsert } from '#protocol';

export interface TargetRow {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly specHash: string;
  readonly spec: string;
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly createAllowed: boolean;
  readonly adopt: boolean;
  readonly driftPolicy: 'Report' | 'Revert';
  readonly revertFields: readonly string[] | null;
  readonly dataSetId: string | null;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  /**
   * What the breaker says of a DELETE. UNJUDGED: nothing yet. EXPIRED: it was approved, and neither the agent nor its status
   * has told that it began before the approval ended; once they have, it is sent until it is acked. Nor is one whose object
   * is another one by now: its agent keeps that, and says so, which "approve again" would hide. HELD comes before all else,
   * whatever another replica has noted meanwhile.
   */
  readonly breaker: 'RELEASED' | 'HELD' | 'UNJUDGED' | 'EXPIRED' | null;
  readonly approval: NonNullable<Tombstone['approval']> | null;
  /** By which the object was known when its delete was asked for or approved; null: by none. */
  readonly deletionUids: readonly string[] | null;
  /** The revision of its newest change among those asked for; null for one that is only sent again. */
  readonly revision: number | null;
}

const BREAKER = `CASE WHEN r.deletion_held_at IS NOT NULL THEN 'HELD' ELSE coalesce(
  (SELECT CASE WHEN a.expires_at <= now() AND EXISTS (SELECT 1 FROM delivery AS d WHERE d.hub_uid = r.hub_uid AND d.state IN ('PENDING', 'REJECTED')
           AND d.code IS DISTINCT FROM 'DELETED_OBJECT_IS_BACK')
       AND NOT EXISTS (SELECT 1 FROM resource_status AS s WHERE s.hub_uid = r.hub_uid AND (s.gone OR s.terminating))
     THEN 'EXPIRED' ELSE 'RELEASED' END
   FROM tombstone_release AS t LEFT JOIN delete_approval AS a ON a.id = t.approval_id WHERE t.hub_uid = r.hub_uid),
  'UNJUDGED') END`;
/** The approval as far as it is about this object: a tombstone does not grow with what was approved beside it. */
const APPROVAL = `(SELECT json_build_object('id', a.id, 'expiresAt', to_char(a.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
     'hubUids', ARRAY (SELECT u FROM unnest(a.hub_uids) AS u WHERE u = r.hub_uid))
   FROM tombstone_release AS t JOIN delete_approval AS a ON a.id = t.approval_id WHERE t.hub_uid = r.hub_uid)`;

export const TARGET_COLUMNS = `r.hub_uid AS "hubUid", r.hub_generation AS "hubGeneration", r.spec_hash AS "specHash", r.spec,
  r.namespace, r.name, r.api_version AS "apiVersion", r.kind, r.create_allowed AS "createAllowed", r.adopt,
  r.drift_policy AS "driftPolicy", r.revert_fields AS "revertFields", r.data_set_id AS "dataSetId", r.deletion,
  CASE WHEN r.deletion = 'DELETE' THEN ${BREAKER} END AS breaker, CASE WHEN r.deletion = 'DELETE' THEN ${APPROVAL} END AS approval,
  CASE WHEN r.deletion = 'DELETE' THEN r.deletion_uids END AS "deletionUids"`;

export const toUpsert = (row: TargetRow): Upsert => ({
  hubUid: row.hubUid,
  hubGeneration: row.hubGeneration,
  specHash: row.specHash,
  spec: row.spec,
  namespace: row.namespace,
  name: row.name,
  apiVersion: row.apiVersion,
  kind: row.kind,
  create: row.createAllowed,
  adopt: row.adopt,
  driftPolicy: row.driftPolicy,
  ...(row.revertFields && row.revertFields.length > 0 ? { revertFields: row.revertFields } : {}),
  ...(row.dataSetId ? { dataSetId: row.dataSetId } : {}),
});

export const toTombstone = (row: TargetRow): Tombstone => ({
  hubUid: row.hubUid,
  namespace: row.namespace,
  name: row.name,
  apiVersion: row.apiVersion,
  kind: row.kind,
  operation: row.deletion ?? 'ORPHAN',
  ...(row.approval ? { approval: row.approval } : {}),
  ...(row.deletionUids ? { uids: row.deletionUids } : {}),
});
