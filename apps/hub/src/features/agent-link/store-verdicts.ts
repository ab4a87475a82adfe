/**
 * The freshness of an agent as it is stored. It speaks for everything the agent runs: lists, roll-ups and subscriptions
 * read it, so each of these objects is told with it. An agent that may not speak any more (revoked, quarantined) is
 * UNKNOWN from that transaction on, without waiting for its silence: what it last said would else count as ready for ever.
 */
import type { EntityManager } from 'typeorm';

import { appendChanges } from '../../platform/database/change-log.ts';
import type { NewVerdict } from './liveness.rules.ts';

export async function storeVerdicts(tx: EntityManager, verdicts: readonly NewVerdict[], nowMs: number): Promise<void> {
  if (verdicts.length === 0) return;
  const agentIds = verdicts.map((one) => one.agentId);
  await tx.query(
    `UPDATE agent_seen AS s SET verdict = i.verdict FROM unnest($1::uuid[], $2::text[]) AS i(agent_id, verdict)
     WHERE s.agent_id = i.agent_id`,
    [agentIds, verdicts.map((one) => one.verdict)],
  );
  const subjects = await tx.query<
    { topic: 'memberCluster' | 'redisCluster'; subject: string; projectId: string | null }[]
  >(
    `SELECT DISTINCT 'memberCluster' AS topic, member_cluster_id AS subject, NULL::uuid AS "projectId" FROM agent WHERE id = ANY($1::uuid[])
     UNION ALL SELECT 'redisCluster', hub_uid, project_id FROM resource WHERE agent_id = ANY($1::uuid[]) AND deleted_at IS NULL`,
    [agentIds],
  );
  await appendChanges(
    tx,
    nowMs,
    subjects.map(({ topic, subject, projectId }) => ({
      topic,
      subject,
      kind: 'CHANGED',
      ...(projectId ? { projectId } : {}),
    })),
  );
}

/** Call in the transaction that takes the agent's right to speak. */
export const loseSight = (tx: EntityManager, agentId: string, nowMs: number): Promise<void> =>
  storeVerdicts(tx, [{ agentId, verdict: 'UNKNOWN' }], nowMs);
