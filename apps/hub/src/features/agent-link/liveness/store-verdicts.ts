/**
 * The freshness of an agent as it is stored. It speaks for everything the agent runs: lists, roll-ups and subscriptions
 * read it. Told is the member cluster alone, to which who watches an object of it listens too: with a line for each
 * object the silence of a third of a large fleet would write tens of thousands of them. An agent that may not speak any
 * more (revoked, quarantined) is UNKNOWN from that transaction on, without waiting for its silence: what it last said
 * would else count as ready for ever.
 */
import type { EntityManager } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import type { NewVerdict } from './liveness.rules.ts';

export async function storeVerdicts(tx: EntityManager, verdicts: readonly NewVerdict[], nowMs: number): Promise<void> {
  if (verdicts.length === 0) return;
  const agentIds = verdicts.map((one) => one.agentId);
  await tx.query(
    `UPDATE agent_seen AS s SET verdict = i.verdict FROM unnest($1::uuid[], $2::text[]) AS i(agent_id, verdict)
     WHERE s.agent_id = i.agent_id`,
    [agentIds, verdicts.map((one) => one.verdict)],
  );
  const subjects = await tx.query<{ subject: string }[]>(
    'SELECT DISTINCT member_cluster_id AS subject FROM agent WHERE id = ANY($1::uuid[])',
    [agentIds],
  );
  await appendChanges(
    tx,
    nowMs,
    subjects.map(({ subject }) => ({ topic: 'memberCluster', subject, kind: 'CHANGED' })),
  );
}

/** Call in the transaction that takes the agent's right to speak. */
export const loseSight = (tx: EntityManager, agentId: string, nowMs: number): Promise<void> =>
  storeVerdicts(tx, [{ agentId, verdict: 'UNKNOWN' }], nowMs);
