import type { EntityManager } from 'typeorm';

import { signalsOf } from '../../platform/database/signals.ts';
import { loseSight } from './store-verdicts.ts';

/** From this transaction on nobody may use the agent's key, until a person has looked. Ends its live session. */
export async function quarantine(tx: EntityManager, agentId: string, reason: string, nowMs: number): Promise<void> {
  const [, count] = await tx.query<[unknown, number]>(
    `UPDATE agent SET state = 'QUARANTINED', state_reason = $2 WHERE id = $1 AND state = 'ACTIVE'`,
    [agentId, reason],
  );
  if (count > 0) await loseSight(tx, agentId, nowMs);
  signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agentId);
}
