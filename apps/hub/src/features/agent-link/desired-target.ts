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
  readonly released: boolean;
  /** The revision of its newest change among those asked for; null for one that is only sent again. */
  readonly revision: number | null;
}

export const TARGET_COLUMNS = `r.hub_uid AS "hubUid", r.hub_generation AS "hubGeneration", r.spec_hash AS "specHash", r.spec,
  r.namespace, r.name, r.api_version AS "apiVersion", r.kind, r.create_allowed AS "createAllowed", r.adopt,
  r.drift_policy AS "driftPolicy", r.revert_fields AS "revertFields", r.data_set_id AS "dataSetId", r.deletion,
  EXISTS (SELECT 1 FROM tombstone_release AS t WHERE t.hub_uid = r.hub_uid) AS released`;

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
});
