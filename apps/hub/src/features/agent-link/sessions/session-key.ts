/** What a session is known by, and the fence that every write in its name passes (03 rule 7). */
import type { EntityManager } from 'typeorm';

export interface SessionKey {
  readonly agentId: string;
  readonly sessionNo: number;
}

/** As a key of a map: a session of an agent, not the agent. */
export const sessionKeyOf = ({ agentId, sessionNo }: SessionKey): string => `${agentId} ${sessionNo}`;

/**
 * Holds the session's row until commit, so that no take-over can come between the check and the write. An agent that was
 * revoked or quarantined may write no more, whether or not anybody has told its session so yet.
 */
export async function holdsSession(tx: EntityManager, session: SessionKey): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT 1 FROM agent_session AS s JOIN agent AS a ON a.id = s.agent_id AND a.state = 'ACTIVE'
     WHERE s.agent_id = $1 AND s.session_no = $2 FOR SHARE OF s`,
    [session.agentId, session.sessionNo],
  );
  return rows.length === 1;
}
