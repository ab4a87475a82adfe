/**
 * A delete that was let through may lie in its agent's hands, unfinished, for as long as the API server there does not answer.
 * Whoever lets the object go instead means it now: the session is given up, which the agent answers by dropping what
 * it had not begun, and the next one brings the newer word alone. What was carried out already cannot be taken back.
 */
import type { EntityManager } from 'typeorm';

import { signalsOf } from '../../../platform/database/signals.ts';

/** In the mutation that changes the delete, under the lock of the spec head. */
export async function recallDelete(tx: EntityManager, agentId: string, hubUid: string): Promise<void> {
  const [, count] = await tx.query<[unknown, number]>(
    `UPDATE agent_session SET session_no = session_no + 1, state = 'DISCONNECTED', disconnected_at = now()
     WHERE agent_id = $1 AND state = 'CONNECTED' AND EXISTS (SELECT 1 FROM tombstone_release WHERE hub_uid = $2)`,
    [agentId, hubUid],
  );
  if (count > 0) signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agentId);
}
