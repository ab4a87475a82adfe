/**
 * The spec of a RedisCluster, v1alpha1, as far as the code obeys it. A field enters here and in the CRD together with
 * the code that acts on it, and never leaves (04: additive for ever). Defaults are not written into the spec; they are
 * applied by `resolveSpec` and shown in status.
 */
export type EngineType = 'Redis' | 'Valkey';
export type Mode = 'Standalone' | 'Replication' | 'Sentinel';
export type StorageType = 'Ephemeral' | 'PersistentVolume';
export type DeletionPolicy = 'Delete' | 'RetainVolumes' | 'Deny';

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
  readonly deletionPolicy: DeletionPolicy;
}
