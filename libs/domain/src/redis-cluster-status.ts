import type { EngineType } from './redis-cluster-spec.ts';

/** The status of a RedisCluster: only states, no moving numbers (04), so that a settled object is never written again. */
export const PHASES = [
  'Pending',
  'Creating',
  'Ready',
  'Updating',
  'Degraded',
  'ActionRequired',
  'Deleting',
  'SpecRejected',
  'Suspended',
  'Hibernated',
] as const;
export type Phase = (typeof PHASES)[number];

export const CONDITION_TYPES = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Available',
  'Degraded',
  'DataAtRisk',
  'ActionRequired',
  'ReplicationHealthy',
  'ConfigApplied',
  'CredentialsInSync',
  'NodeUnreachable',
  'SpecRejected',
  'RestartPending',
  'Fenced',
  'Hibernated',
] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];
export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: ConditionType;
  readonly status: ConditionStatus;
  /** Stable code in CamelCase. */
  readonly reason: string;
  /** A sentence for people: what, why, what to do next. */
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339; changes only when status changes. */
  readonly lastTransitionTime: string;
}

export type PodRole = 'primary' | 'replica' | 'waiting' | 'sentinel' | 'unknown';

export interface PodStatus {
  readonly name: string;
  readonly role: PodRole;
  readonly ready: boolean;
  readonly node?: string;
  readonly ip?: string;
  /** Replicas only: INFO's master_link_status. */
  readonly link?: 'up' | 'down';
}

export interface ShardStatus {
  readonly name: string;
  readonly pods: readonly PodStatus[];
}

export interface Endpoints {
  readonly primary?: string;
  readonly replicas?: string;
  readonly sentinel?: string;
  /** Sentinel's master name. */
  readonly masterName?: string;
  /** Name of the Secret that tells clients how to connect. */
  readonly connectionSecret?: string;
  /** IP:port of the confirmed primary, for people. */
  readonly primaryAddress?: string;
}

/** One entry of the bounded flight recorder. */
export interface Decision {
  readonly time: string;
  readonly observation: string;
  readonly action: string;
  readonly reason: string;
}

/** Why a rolling change is where it is. */
export interface RolloutStatus {
  /** Pods that already run the wanted revision, of all data pods and Sentinels. */
  readonly updated: number;
  readonly total: number;
  /** Stable code in CamelCase of what is waited for. */
  readonly reason: string;
  /** What is waited for, with the object. */
  readonly waitingFor: string;
  /** RFC 3339: since when it waits for that. */
  readonly since: string;
  /** It has stood still at its first pod for so long that other RedisClusters may be rolled in its place. */
  readonly turn?: 'GivenBack';
}

export type ConfigState = 'applied' | 'pendingRestart' | 'rejected';

/** The user's directives by what became of them; `applied` counts, since 256 names would be written for nothing. */
export interface ConfigStatus {
  readonly applied: number;
  readonly pendingRestart: readonly string[];
  readonly rejected: readonly RejectedDirective[];
}

/** Told again only when the value or the engine changes: this entry is the operator's memory of what a server said. */
export interface RejectedDirective {
  readonly key: string;
  /** The value that was refused. */
  readonly value?: string;
  readonly reason: string;
  /** What the server has instead, where it changed the value silently. */
  readonly kept?: string;
  /** Engine and version that said so; absent when no server was asked. */
  readonly engine?: string;
}

export interface CredentialsStatus {
  /** Counts rotations, from 1. */
  readonly version: number;
  /** Settled, or the step of a rotation that is under way. */
  readonly step: 'Settled' | 'Adding' | 'Switching' | 'Publishing' | 'Waiting' | 'Removing';
  /** RFC 3339, while both passwords are valid: when the new one was published. */
  readonly publishedAt?: string;
  /** True while connections of the old password were seen. */
  readonly oldInUse?: boolean;
}

/** What was kept of a data set that lost in a split brain, at deletion, or on the volume of a pod that came back. */
export interface SetAsideStatus {
  readonly pod: string;
  /** File or folder on the pod's data volume. */
  readonly file: string;
  readonly at: string;
  readonly reason: string;
  /** What it takes there, where that is known. */
  readonly bytes?: number;
}

export interface RedisClusterStatus {
  readonly observedGeneration?: number;
  readonly observedHubGeneration?: number;
  readonly phase?: Phase;
  readonly conditions?: readonly Condition[];
  readonly dataSetId?: string;
  readonly renderVersion?: number;
  readonly mode?: string;
  /** `ready/size`, for the printer column. */
  readonly ready?: string;
  readonly size?: number;
  readonly readyPods?: number;
  readonly currentPrimary?: string;
  readonly targetPrimary?: string;
  readonly primaryTerm?: number;
  /** Highest version of `primaryEngine` that a primary of this data set has run; nothing older may follow. */
  readonly primaryVersion?: string;
  /** Which engine that was; missing where an agent before 0.2.0 wrote the record, which never changed the engine. */
  readonly primaryEngine?: EngineType;
  readonly engineVersion?: string;
  readonly shards?: readonly ShardStatus[];
  readonly sentinels?: readonly PodStatus[];
  readonly endpoints?: Endpoints;
  readonly decisions?: readonly Decision[];
  readonly rollout?: RolloutStatus;
  readonly config?: ConfigStatus;
  readonly credentials?: CredentialsStatus;
  readonly setAside?: readonly SetAsideStatus[];
  /** What this data set's engine and agent can do, for user interfaces. */
  readonly capabilities?: readonly string[];
}
