/**
 * Why a session is over that may no longer write, which its agent must be told: one that was taken over is another process's
 * now, and the loser comes back only with a Lease that it has just renewed; one that the hub gave up by itself (a delete
 * that was recalled) is nobody's, and its agent comes back at once.
 */
import type { AgentRow } from './agent-row.ts';

/** A session that is fenced or behind; `state` is its agent's. */
export interface SessionView {
  readonly state: AgentRow['state'];
  readonly fenced: boolean;
  /** Somebody has a session of this agent now. */
  readonly taken: boolean;
}

export type FencedReason = 'TAKEN_OVER' | 'GIVEN_UP' | 'QUARANTINED' | 'REVOKED';

/** undefined: it goes on. */
export function whyEnded(view: SessionView): FencedReason | undefined {
  if (view.state === 'QUARANTINED' || view.state === 'REVOKED') return view.state;
  if (!view.fenced) return undefined;
  return view.taken ? 'TAKEN_OVER' : 'GIVEN_UP';
}
