/** What the planner decides from: one dated picture, the time, and limits that are values of the agent. */
import type { Action, RedisClusterSnapshot } from '#domain';

export interface PlannerPolicy {
  /** A picture older than this is not acted on (04, Never 9). */
  readonly snapshotMaxAgeMs: number;
  /** How soon to look again while something is awaited. */
  readonly recheckSoonMs: number;
  /** How soon to look again while something outside has to change first. */
  readonly recheckLaterMs: number;
  /** A link that has been down this long with its node Ready: the kubelet was heard after the end (04, proof b). */
  readonly kubeletHeardAfterMs: number;
  /** Not Ready for this long, and a pod cannot start: Stalled. */
  readonly stalledAfterMs: number;
  /** In place of every spec.auth.rotation.gracePeriod, for tests: it may be shorter than any spec may ask for. */
  readonly gracePeriodMs?: number;
}

/** Source: 04 "Never" 9 and Kubernetes' node-monitor-grace-period of 40-50 s. */
export const DEFAULT_PLANNER_POLICY: PlannerPolicy = {
  snapshotMaxAgeMs: 10_000,
  recheckSoonMs: 1_000,
  recheckLaterMs: 10_000,
  kubeletHeardAfterMs: 60_000,
  stalledAfterMs: 60_000,
};

export interface PlannerInput {
  readonly snapshot: RedisClusterSnapshot;
  /** On the same clock as `snapshot.observedAtMs`. */
  readonly nowMs: number;
  readonly policy: PlannerPolicy;
  /** For previews: these are left out of the plan, as if they had been done. */
  readonly isDone?: (action: Action) => boolean;
}
