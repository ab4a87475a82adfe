/**
 * Takes an agent's right to speak because its key is used in two places: from this transaction on nobody may use the key, until
 * a person has looked. The person is told where people look: in the agent's state with its reason, in the audit trail,
 * in a metric and in the log of every replica (person-watch.ts). Ends its live session.
 */
import type { EntityManager } from 'typeorm';

import { signalsOf } from '../../../platform/database/signals.ts';
import { encodeGlobalId } from '../../../platform/graphql/index.ts';
import { loseSight } from '../liveness/store-verdicts.ts';

const ADVICE =
  'nothing is sent to either place and what runs goes on; look at both clusters, then approve the agent again (approveAgent), ' +
  'or enrol a new one and let it take its place (replaceMemberCluster)';

/** `what` happened, for people. */
export async function quarantine(tx: EntityManager, agentId: string, what: string, nowMs: number): Promise<void> {
  const reason = `${what}; ${ADVICE}`;
  const [, count] = await tx.query<[unknown, number]>(
    `UPDATE agent SET state = 'QUARANTINED', state_reason = $2 WHERE id = $1 AND state = 'ACTIVE'`,
    [agentId, reason],
  );
  if (count > 0) {
    await loseSight(tx, agentId, nowMs);
    await tx.query(
      `INSERT INTO audit (at, principal, action, target, after, result, code)
       VALUES ($1, 'hub', 'quarantineAgent', $2, $3::jsonb, 'OK', 'AGENT_QUARANTINED')`,
      [new Date(nowMs), encodeGlobalId('Agent', agentId), JSON.stringify({ reason })],
    );
  }
  signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agentId);
}
