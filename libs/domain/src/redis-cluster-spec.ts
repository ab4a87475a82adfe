/**
 * The spec of a RedisCluster, v1alpha1, as far as the code obeys it. A field enters here and in the CRD together with
 * the code that acts on it, and never leaves (04: additive for ever). Defaults are not written into the spec; they are
 * applied by `resolveSpec` and shown in status.
 */
export type EngineType = 'Redis' | 'Valkey';
export type Mode = 'Standalone' | 'Replication' | 'Sentinel';
export type StorageType = 'Ephemeral' | 'PersistentVolume';
/** Snapshot: a last RDB is written on the primary's volume, which alone is kept. */
export type DeletionPolicy = 'Delete' | 'RetainVolumes' | 'Snapshot' | 'Deny';
/** Refuse: stop and ask when acknowledged writes could be lost. Allow: the user takes that loss for availability. */
export type DataLossPolicy = 'Refuse' | 'Allow';
/** Manual: the agent never promotes by itself; Sentinel still does in mode Sentinel. */
export type FailoverMode = 'Automatic' | 'Manual';
/** OnApproval: replicas are rolled, then a RedisOperation Consent is awaited before the primary is touched. */
export type UpdateStrategyType = 'Rolling' | 'OnApproval';
export type Mesh = 'None' | 'Istio';
export const FSYNC_POLICIES = ['always', 'everysec', 'no'] as const;
export type FsyncPolicy = (typeof FSYNC_POLICIES)[number];
/** Values of maxmemory-policy; those with lrm from Redis 8.6 on. */
export const MAXMEMORY_POLICIES = [
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'allkeys-lrm',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
  'volatile-lrm',
] as const;
export const MAINTENANCE_DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
/** Users of every data set; a spec may not make users of these names. */
export const REFUSED_USER_NAMES: readonly string[] = ['atoll', 'replication', 'sentinel', 'app', 'default'];

/** Kubernetes quantities by resource name, for instance `{ memory: '256Mi', cpu: '100m' }`. */
export type ResourceQuantities = Readonly<Record<string, string>>;

export interface ResourceRequirements {
  readonly requests?: ResourceQuantities;
  readonly limits?: ResourceQuantities;
}

export interface EngineSpec {
  readonly type: EngineType;
  /** `major.minor` or `major.minor.patch`, for instance `8.0`. */
  readonly version: string;
  /** Full image reference; default by engine and version. */
  readonly image?: string;
}

export interface SentinelSpec {
  /** Odd, at least 3. Default 3. */
  readonly replicas?: number;
  /** Default: majority. */
  readonly quorum?: number;
  /** Duration as `500ms`, `5s`, `1m`. Default 5s. */
  readonly downAfter?: string;
  /** Duration. Default 15s. */
  readonly failoverTimeout?: string;
  readonly resources?: ResourceRequirements;
}

export interface StorageSpec {
  readonly type: StorageType;
  /** Kubernetes quantity; required for PersistentVolume. */
  readonly size?: string;
  readonly storageClassName?: string;
}

export interface PersistenceSpec {
  /** Default: on with PersistentVolume, off with Ephemeral. */
  readonly enabled?: boolean;
  readonly aof?: { readonly fsync?: FsyncPolicy };
  /** Points of `save`: a snapshot after `seconds` when at least `changes` keys changed. Default: none, the AOF is enough. */
  readonly rdb?: { readonly save?: readonly { readonly seconds: number; readonly changes: number }[] };
}

export interface MemorySpec {
  /** Redis grammar, as `100mb`; not together with maxmemoryPercent. Default: what the limit leaves after the reserve. */
  readonly maxmemory?: string;
  /** Of the memory limit. */
  readonly maxmemoryPercent?: number;
  /** maxmemory-policy. Default: the engine's (noeviction). */
  readonly policy?: string;
  /** Kept free of the limit for copies at fork, buffers and fragmentation: Kubernetes quantity. Default 25 % of the limit. */
  readonly reserve?: string;
}

export interface SecretKeyRef {
  readonly name: string;
  /** Default `password`. */
  readonly key?: string;
}

export interface AclUserSpec {
  readonly name: string;
  /** ACL rules without passwords, for instance `~cache:* +@read`. */
  readonly rules: string;
  /** Where the password comes from; default: made by the agent, in Secret `<name>-user-<user>`. */
  readonly secretRef?: SecretKeyRef;
}

export interface AuthSpec {
  /** Password of the application user, copied from a Secret of this namespace with label redis.atoll.dev/allow=true. */
  readonly secretRef?: SecretKeyRef;
  readonly rotation?: {
    /** How long the old password stays valid at least, as a duration. Default and minimum 3m: a projected Secret lags. */
    readonly gracePeriod?: string;
  };
  readonly users?: readonly AclUserSpec[];
}

export interface TolerationSpec {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

export interface SchedulingSpec {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly TolerationSpec[];
  readonly priorityClassName?: string;
  /** `Required`: a pod stays Pending rather than share. Default Preferred for both. */
  readonly spread?: { readonly node?: 'Preferred' | 'Required'; readonly zone?: 'Preferred' | 'Required' };
}

export interface UpdateStrategySpec {
  /** Default Rolling. */
  readonly type?: UpdateStrategyType;
  /** No pod is restarted for a change while true. */
  readonly paused?: boolean;
  /** At most this many data pods are brought to the new revision (a canary). Default: all. */
  readonly partition?: number;
}

export interface FailoverSpec {
  /** Default Automatic. */
  readonly mode?: FailoverMode;
  /** Default Refuse. */
  readonly dataLossPolicy?: DataLossPolicy;
  /** Default: half of the size, so that two sides of a partition never both take writes. 0 turns it off. */
  readonly minReplicasToWrite?: number;
}

export interface MaintenanceWindow {
  /** Mon … Sun; empty: every day. */
  readonly days?: readonly string[];
  /** `HH:MM` in the time zone. */
  readonly start: string;
  /** As `2h`, at most 24h. */
  readonly duration: string;
  /** IANA name. Default UTC. */
  readonly timeZone?: string;
}

export interface NetworkingSpec {
  /** Istio: announce addresses, keep Redis ports out of the sidecar, never take a refused connection for a death. */
  readonly mesh?: Mesh;
}

export interface MonitoringSpec {
  /** Metrics of each Redis under redis_exporter's names, served by the agent. Default true. */
  readonly exporter?: boolean;
}

export interface FencingSpec {
  /** All data pods: every client write is refused and nothing is promoted until it is lifted. */
  readonly enabled: boolean;
}

export interface RedisClusterSpec {
  readonly engine: EngineSpec;
  readonly mode: Mode;
  /** Data pods: one primary and size - 1 replicas. Standalone: 1. Default: Standalone 1, else 3. */
  readonly size?: number;
  readonly sentinel?: SentinelSpec;
  /** redis.conf directives by name; those the operator owns are refused. */
  readonly config?: Readonly<Record<string, string>>;
  readonly resources?: ResourceRequirements;
  /** Default Ephemeral. */
  readonly storage?: StorageSpec;
  /** Default: on with PersistentVolume, off with Ephemeral. */
  readonly persistence?: PersistenceSpec;
  /** Default RetainVolumes. */
  readonly deletionPolicy?: DeletionPolicy;
  readonly memory?: MemorySpec;
  readonly auth?: AuthSpec;
  readonly scheduling?: SchedulingSpec;
  readonly updateStrategy?: UpdateStrategySpec;
  readonly failover?: FailoverSpec;
  /** Restarts that can wait (a changed pod template, a RedisOperation Restart does not) wait for one. Default: any time. */
  readonly maintenanceWindows?: readonly MaintenanceWindow[];
  readonly networking?: NetworkingSpec;
  readonly monitoring?: MonitoringSpec;
  readonly fencing?: FencingSpec;
  /** No pods, everything else stays; data must lie on volumes. */
  readonly hibernation?: boolean;
  /** The agent only reports. */
  readonly suspend?: boolean;
}

/** The spec with every default filled in: what the planner and the manifests work with. Durations in milliseconds. */
export interface ResolvedSpec {
  readonly engine: { readonly type: EngineType; readonly version: string; readonly image: string };
  readonly mode: Mode;
  readonly size: number;
  readonly sentinel: {
    readonly replicas: number;
    readonly quorum: number;
    readonly downAfterMs: number;
    readonly failoverTimeoutMs: number;
    readonly resources: ResourceRequirements;
  };
  readonly config: Readonly<Record<string, string>>;
  readonly resources: ResourceRequirements;
  readonly storage: StorageSpec;
  readonly persistenceEnabled: boolean;
  /** The pods end their append-only file and remove it: persistence was switched off (planner/shape). */
  readonly dropsAof?: boolean;
  /** Pods that run now, when fewer than size and sentinel.replicas: on the way into hibernation. */
  readonly runningPods?: { readonly redis: number; readonly sentinel: number };
  readonly persistence: {
    readonly fsync: FsyncPolicy;
    readonly save: readonly { readonly seconds: number; readonly changes: number }[];
  };
  readonly deletionPolicy: DeletionPolicy;
  readonly memory: MemorySpec;
  readonly auth: {
    readonly secretRef?: Required<SecretKeyRef>;
    readonly gracePeriodMs: number;
    readonly users: readonly (Omit<AclUserSpec, 'secretRef'> & { readonly secretRef?: Required<SecretKeyRef> })[];
  };
  readonly scheduling: SchedulingSpec;
  readonly updateStrategy: Required<Omit<UpdateStrategySpec, 'partition'>> & { readonly partition?: number };
  readonly failover: {
    readonly mode: FailoverMode;
    readonly dataLossPolicy: DataLossPolicy;
    /** As rendered: 0 where there is nobody to replicate to. */
    readonly minReplicasToWrite: number;
  };
  readonly maintenanceWindows: readonly MaintenanceWindow[];
  readonly mesh: Mesh;
  readonly exporter: boolean;
  readonly fenced: boolean;
  readonly hibernated: boolean;
  readonly suspended: boolean;
}
