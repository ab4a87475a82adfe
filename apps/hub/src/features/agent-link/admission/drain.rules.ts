/**
 * How the agents of a replica that stops are spread: about as fast as other replicas admit them. With others there they
 * stay here until their time has come, so that nobody is without a hub. A hub that is alone goes at once, and its agents
 * come back over the same time: waiting would only make the outage longer. Without the spread ten thousand agents dial in
 * the same second.
 */
const LEAVE_PER_SECOND = 300;
/** Kubernetes kills the pod after 60 s. */
const MAX_WINDOW_MS = 45_000;

export interface DrainPlan {
  /** Each agent goes at a random time within this. */
  readonly windowMs: number;
  /** How long this replica waits for them. */
  readonly waitMs: number;
}

export function planDrain(sessions: number, otherReplicas: number): DrainPlan {
  const windowMs = spreadMs(sessions);
  return { windowMs, waitMs: otherReplicas > 0 ? windowMs : 0 };
}

/** For agents that are all asked to come again. */
export const spreadMs = (sessions: number): number =>
  Math.min(MAX_WINDOW_MS, Math.ceil((sessions * 1_000) / LEAVE_PER_SECOND));
