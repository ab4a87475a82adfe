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
  /** Highest engine version a primary of this data set has run; nothing older may follow. */
  readonly primaryVersion?: string;
  readonly engineVersion?: string;
  readonly shards?: readonly ShardStatus[];
  readonly sentinels?: readonly PodStatus[];
  readonly endpoints?: Endpoints;
  readonly decisions?: readonly Decision[];
}
