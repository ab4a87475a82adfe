import type { EntityManager } from 'typeorm';

import { signalsOf } from './signals.ts';

/** One line of the log that subscriptions resume from; cursor (xid8, id), read only below pg_snapshot_xmin. */
export interface Change {
  readonly topic: 'redisCluster' | 'memberCluster' | 'fleet';
  readonly subject: string;
  readonly projectId?: string;
  readonly kind: 'CHANGED' | 'DELETED';
}

/** Append changes in the transaction that made them, and wake the subscriptions of every replica after its commit. */
export async function appendChanges(tx: EntityManager, nowMs: number, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(
    `INSERT INTO change_log (at, topic, subject, project_id, kind)
     SELECT $1, c.topic, c.subject, c.project_id, c.kind
     FROM unnest($2::text[], $3::uuid[], $4::uuid[], $5::text[]) AS c(topic, subject, project_id, kind)`,
    [
      new Date(nowMs),
      changes.map((change) => change.topic),
      changes.map((change) => change.subject),
      changes.map((change) => change.projectId ?? null),
      changes.map((change) => change.kind),
    ],
  );
  signalsOf(tx.dataSource).sendAfterCommit(tx, 'change', 'change_log');
}
