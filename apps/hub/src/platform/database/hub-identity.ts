/**
 * The hub epoch: an id of this database's lineage. It changes when the database is another one than before: restored
 * elsewhere (system_identifier), rolled back in time (timeline), restored from a logical dump into the same server (the
 * object ids of the database or of this table), or put back by a copy of its files (its write-ahead log went back).
 * Revisions and generations of two epochs cannot be compared, so without the change a restored hub would take agents
 * that are ahead of it for being in sync.
 */
import type { EntityManager } from 'typeorm';

export interface DatabaseLineage {
  readonly systemIdentifier: string;
  readonly timelineId: number;
  /** `database/table`: whoever restores a logical dump makes one of them anew. The table is missing before it exists. */
  readonly objectIds: string;
  /** Bytes of the write-ahead log that are on disk; of one server they never fall. Null on a standby. */
  readonly walBytes: string | null;
}

export interface HubIdentity {
  hubEpoch: string;
  madeAt: Date;
}

/**
 * A promoted standby writes to its new timeline at once, and tells it by pg_control_checkpoint() only after its next
 * checkpoint, minutes later; so that is asked of a standby alone.
 */
const TIMELINE = `CASE WHEN pg_is_in_recovery() THEN c.timeline_id
  ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END`;
const LINEAGE = `s.system_identifier::text AS "systemIdentifier", ${TIMELINE} AS "timelineId",
  d.oid || '/' || coalesce(to_regclass('hub_identity')::oid::text, '') AS "objectIds",
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE (pg_current_wal_flush_lsn() - '0/0')::text END AS "walBytes"
  FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_database AS d WHERE d.datname = current_database()`;
export const READ_LINEAGE = `SELECT ${LINEAGE}`;
/** In one statement: what another connection says of the epoch may be about another database. */
export const READ_LINEAGE_AND_EPOCH = `SELECT (SELECT hub_epoch FROM hub_identity) AS "hubEpoch",
  (SELECT created_at FROM hub_identity) AS "madeAt", ${LINEAGE}`;

/** True when both are the same database, as far as PostgreSQL can tell; it may have been put back. */
export function isSameLineage(a: DatabaseLineage, b: DatabaseLineage): boolean {
  const isTableKnown = !a.objectIds.endsWith('/') && !b.objectIds.endsWith('/');
  if (isTableKnown && a.objectIds !== b.objectIds) return false;
  return a.systemIdentifier === b.systemIdentifier && a.timelineId === b.timelineId;
}

/** True when `now` can be the same database as `before`, later. */
export function continuesLineage(before: DatabaseLineage, now: DatabaseLineage): boolean {
  if (!isSameLineage(before, now)) return false;
  return before.walBytes === null || now.walBytes === null || BigInt(now.walBytes) >= BigInt(before.walBytes);
}

/**
 * Reads the identity; makes it at the first start, and gives it a new epoch when the lineage differs. `leave`: an epoch
 * that must not go on, nor any made before it, since this process saw its database replaced; another replica may have left it already.
 */
export async function ensureHubIdentity(
  tx: EntityManager,
  newEpoch: string,
  nowMs: number,
  leave: HubIdentity | null = null,
): Promise<HubIdentity> {
  const [lineage] = await tx.query<DatabaseLineage[]>(READ_LINEAGE);
  if (!lineage) throw new Error('PostgreSQL does not tell its system identifier');
  const { systemIdentifier, timelineId, objectIds } = lineage;
  await tx.query(
    `INSERT INTO hub_identity (hub_epoch, system_identifier, timeline_id, object_ids, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (one) DO UPDATE SET hub_epoch = excluded.hub_epoch, system_identifier = excluded.system_identifier,
       timeline_id = excluded.timeline_id, object_ids = excluded.object_ids, created_at = excluded.created_at
     WHERE (hub_identity.system_identifier, hub_identity.timeline_id)
         IS DISTINCT FROM (excluded.system_identifier, excluded.timeline_id)
       OR hub_identity.object_ids <> excluded.object_ids OR hub_identity.hub_epoch = $6 OR hub_identity.created_at <= $7`,
    [
      newEpoch,
      systemIdentifier,
      timelineId,
      objectIds,
      new Date(nowMs),
      leave?.hubEpoch ?? null,
      leave?.madeAt ?? null,
    ],
  );
  // A database of a release that did not keep them.
  await tx.query('UPDATE hub_identity SET object_ids = $1 WHERE object_ids IS NULL', [objectIds]);
  const [row] = await tx.query<HubIdentity[]>(
    'SELECT hub_epoch AS "hubEpoch", created_at AS "madeAt" FROM hub_identity',
  );
  if (!row) throw new Error('hub_identity is empty');
  return row;
}
