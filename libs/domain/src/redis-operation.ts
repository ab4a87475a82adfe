/**
 * RedisOperation: one deed asked for once, with a trail that stays (04). What the hub can do, kubectl can do. The spec is
 * immutable but for `cancel`; the agent writes the status, and an operation that ended is never taken up again.
 */
import type { KubeObject } from './redis-cluster.ts';
import type { RedisClusterSpec } from './redis-cluster-spec.ts';

export const OPERATION_TYPES = [
  'Failover',
  'Restart',
  'RotateCredentials',
  'ReplaceUnreachable',
  'Plan',
  'Consent',
] as const;
export type OperationType = (typeof OPERATION_TYPES)[number];

export const OPERATION_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Expired'] as const;
export type OperationPhase = (typeof OPERATION_PHASES)[number];

export interface RedisOperationSpec {
  /** Name of the RedisCluster in the same namespace. */
  readonly redisCluster: string;
  readonly type: OperationType;
  /** RFC 3339: not begun after this time (Expired). */
  readonly notAfter?: string;
  /** What must hold when it begins; otherwise it fails with PreconditionFailed and nothing is done. */
  readonly precondition?: {
    /** metadata.generation of the RedisCluster. */
    readonly generation?: number;
    /** status.currentPrimary. */
    readonly currentPrimary?: string;
    readonly primaryTerm?: number;
  };
  /** Begun steps end safely, nothing new is begun. */
  readonly cancel?: boolean;
  /** Failover: which replica shall be primary; default: the furthest along. */
  readonly failover?: { readonly to?: string };
  /** Restart: which pods; default: all. */
  readonly restart?: { readonly pods?: readonly string[] };
  /** ReplaceUnreachable: the pod whose node the author knows to be dead. */
  readonly replaceUnreachable?: { readonly pod: string };
  /** RotateCredentials: which users; default: all. */
  readonly rotateCredentials?: { readonly users?: readonly string[] };
  /** Plan: the spec that is proposed. */
  readonly plan?: { readonly spec: RedisClusterSpec };
  /** Consent: to the plan of this hash, until `expires` (RFC 3339). */
  readonly consent?: { readonly planHash: string; readonly expires?: string };
}

export interface OperationStep {
  readonly name: string;
  readonly state: 'Pending' | 'Running' | 'Done' | 'Failed';
  readonly message?: string;
  /** RFC 3339. */
  readonly at?: string;
}

/** What a proposed spec would mean; made by the planner that would execute it. */
export interface PlanPreview {
  readonly hash: string;
  readonly actions: readonly { readonly kind: string; readonly object: string; readonly message: string }[];
  /** Pods that would be restarted, in order. */
  readonly restarts: readonly string[];
  readonly predictedSeconds: number;
  /** Highest use of memory by all its pods at once, in bytes. */
  readonly peakMemoryBytes: number;
  readonly refusals: readonly { readonly reason: string; readonly message: string }[];
}

export interface RedisOperationStatus {
  readonly phase?: OperationPhase;
  /** Stable code in CamelCase. */
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly steps?: readonly OperationStep[];
  /**
   * What was true when it began, so that its progress can be told from the world alone: `primary`, `primaryTerm`,
   * `pod/<name>` with the uid that the pod had.
   */
  readonly noted?: Readonly<Record<string, string>>;
  readonly observedGeneration?: number;
  readonly plan?: PlanPreview;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
    readonly observedGeneration?: number;
  }[];
}

export interface RedisOperationObject extends KubeObject {
  readonly kind: 'RedisOperation';
  readonly spec: RedisOperationSpec;
  readonly status?: RedisOperationStatus;
}

/** What the planner found out about an operation in this pass; `report` writes it. Steps replace those of before. */
export interface PlannedOperation {
  readonly name: string;
  readonly uid: string;
  readonly phase: OperationPhase;
  readonly reason: string;
  readonly message: string;
  readonly steps: readonly OperationStep[];
  /** Only when it begins; what was noted then stays. */
  readonly noted?: Readonly<Record<string, string>>;
  readonly plan?: PlanPreview;
}

export const isOperationOver = (phase: OperationPhase | undefined): boolean =>
  phase !== undefined && phase !== 'Pending' && phase !== 'Running';
