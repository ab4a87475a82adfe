/**
 * The hub epoch: an id of this database's lineage. It changes when the database is another one than before: restored
 * elsewhere (system_identifier) or rolled back in time (timeline). Revisions and generations of two epochs cannot be
 * compared, so without the change a restored hub would take agents that are ahead of it for being in sync.
 */
import type { EntityManager } from 'typeorm';

export interface DatabaseLineage {
  readonly systemIdentifier: string;
  readonly timelineId: number;
}

export interface HubIdentity {
  hubEpoch: string;
}

export const READ_LINEAGE = `SELECT s.system_identifier::text AS "systemIdentifier", c.timeline_id AS "timelineId"
  FROM pg_control_system() AS s, pg_control_checkpoint() AS c`;

/** True when both are the same database, as far as PostgreSQL can tell. */
export const isSameLineage = (a: DatabaseLineage, b: DatabaseLineage): boolean =>
  a.systemIdentifier === b.systemIdentifier && a.timelineId === b.timelineId;

/** Reads the identity; makes it at the first start, and gives it a new epoch when the lineage differs. */
export async function ensureHubIdentity(tx: EntityManager, newEpoch: string, nowMs: number): Promise<HubIdentity> {
  const [lineage] = await tx.query<DatabaseLineage[]>(READ_LINEAGE);
  if (!lineage) throw new Error('PostgreSQL does not tell its system identifier');
  const { systemIdentifier, timelineId } = lineage;
  await tx.query(
    `INSERT INTO hub_identity (hub_epoch, system_identifier, timeline_id, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (one) DO UPDATE SET hub_epoch = excluded.hub_epoch, system_identifier = excluded.system_identifier,
       timeline_id = excluded.timeline_id, created_at = excluded.created_at
     WHERE (hub_identity.system_identifier, hub_identity.timeline_id)
       IS DISTINCT FROM (excluded.system_identifier, excluded.timeline_id)`,
    [newEpoch, systemIdentifier, timelineId, new Date(nowMs)],
  );
  const [row] = await tx.query<{ hubEpoch: string }[]>('SELECT hub_epoch AS "hubEpoch" FROM hub_identity');
  if (!row) throw new Error('hub_identity is empty');
  return { hubEpoch: row.hubEpoch };
}
