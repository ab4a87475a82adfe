/**
 * Which objects have a status that could not be stored: what is shown of them is of before, and must not pass for the present
 * one (freshness.sql.ts). Noted in a transaction of its own, since that of the status has failed. A status of the object that is
 * stored takes the note back (status-rows.ts), and so does a proof that what is stored is the present one (status-heads.ts).
 */
import type { DataSource } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { isUuid } from '../sessions/handshake.service.ts';

/** As an item names it. */
export interface NamedObject {
  readonly hubUid?: string | undefined;
  readonly namespace: string;
  readonly name: string;
}

/** $1 agent, $2 hubUids, $3 namespaces, $4 names, $5 why. Only of objects that this agent may speak of. */
const NOTE = `WITH noted AS (
  INSERT INTO status_unstored (hub_uid, since, reason)
  SELECT DISTINCT r.hub_uid, now(), $5 FROM unnest($2::uuid[], $3::text[], $4::text[]) AS i(hub_uid, namespace, name)
    JOIN resource AS r ON r.hub_uid = i.hub_uid AND r.agent_id = $1 AND (r.namespace, r.name) = (i.namespace, i.name)
  WHERE r.deleted_at IS NULL
  ON CONFLICT (hub_uid) DO NOTHING RETURNING hub_uid
) SELECT r.hub_uid AS "hubUid", r.project_id AS "projectId" FROM noted JOIN resource AS r USING (hub_uid)`;

export function noteUnstored(
  dataSource: DataSource,
  agentId: string,
  about: { readonly objects: readonly NamedObject[]; readonly reason: string; readonly nowMs: number },
): Promise<void> {
  // A copy of an object carries its hubUid as well: which of them is meant, the name says.
  const objects = about.objects.filter(({ hubUid }) => hubUid !== undefined && isUuid(hubUid));
  if (objects.length === 0) return Promise.resolve();
  return dataSource.transaction(async (tx) => {
    const rows = await tx.query<{ hubUid: string; projectId: string }[]>(NOTE, [
      agentId,
      objects.map(({ hubUid }) => hubUid),
      objects.map(({ namespace }) => namespace),
      objects.map(({ name }) => name),
      about.reason,
    ]);
    await appendChanges(
      tx,
      about.nowMs,
      rows.map(({ hubUid, projectId }) => ({ topic: 'redisCluster', subject: hubUid, projectId, kind: 'CHANGED' })),
    );
  });
}
