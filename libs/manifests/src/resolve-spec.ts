/**
 * Fills in every default of a spec. Decided from the spec alone, so that planner, manifests, status and a dry run see
 * one and the same picture; defaults are never written back into the user's object (04, Never 8).
 */
import {
  defaultEngineImage,
  parseDurationMs,
  type Mode,
  type RedisClusterSpec,
  type ResolvedSpec,
  type ResourceRequirements,
  type SecretKeyRef,
} from '#domain';

const DEFAULT_SIZE: Readonly<Record<Mode, number>> = { Standalone: 1, Replication: 3, Sentinel: 3 };
const DEFAULT_SENTINELS = 3;
/** Sentinel alone fails over 5.4 s after a death with this (redis-engine P16); shorter takes a slow disk for a death. */
const DEFAULT_DOWN_AFTER_MS = 5_000;
/** A Sentinel that lost the vote waits twice this long before the next one: 30 s without a primary, not the two minutes of 60 s. */
const DEFAULT_FAILOVER_TIMEOUT_MS = 15_000;
/** A projected Secret reaches a pod up to two minutes late (04, Passwords). */
const MIN_GRACE_PERIOD_MS = 180_000;
/** Small enough for a laptop, present so that a pod is never the first to be evicted. */
const DEFAULT_REDIS_RESOURCES: ResourceRequirements = { requests: { cpu: '50m', memory: '64Mi' } };
const DEFAULT_SENTINEL_RESOURCES: ResourceRequirements = { requests: { cpu: '10m', memory: '24Mi' } };

/** The spec with all defaults; expects one that validateSpec found no problem in. */
export const resolveSpec = (spec: RedisClusterSpec): ResolvedSpec => {
  const storage = spec.storage ?? { type: 'Ephemeral' };
  return {
    engine: resolveEngine(spec),
    mode: spec.mode,
    size: spec.size ?? DEFAULT_SIZE[spec.mode],
    sentinel: resolveSentinel(spec),
    config: spec.config ?? {},
    resources: spec.resources ?? DEFAULT_REDIS_RESOURCES,
    storage,
    ...resolvePersistence(spec.persistence, storage),
    deletionPolicy: spec.deletionPolicy ?? 'RetainVolumes',
    memory: spec.memory ?? {},
    auth: resolveAuth(spec),
    scheduling: spec.scheduling ?? {},
    failover: resolveFailover(spec),
    maintenanceWindows: spec.maintenanceWindows ?? [],
    ...resolveSwitches(spec),
  };
};

const resolveEngine = ({ engine: { type, version, image } }: RedisClusterSpec): ResolvedSpec['engine'] => ({
  type,
  version,
  image: image ?? defaultEngineImage(type, version),
});

const resolvePersistence = (
  persistence: RedisClusterSpec['persistence'],
  storage: ResolvedSpec['storage'],
): Pick<ResolvedSpec, 'persistenceEnabled' | 'persistence'> => ({
  persistenceEnabled: persistence?.enabled ?? storage.type === 'PersistentVolume',
  persistence: { fsync: persistence?.aof?.fsync ?? 'everysec', save: persistence?.rdb?.save ?? [] },
});

const resolveSwitches = (
  spec: RedisClusterSpec,
): Pick<ResolvedSpec, 'updateStrategy' | 'mesh' | 'exporter' | 'fenced' | 'hibernated' | 'suspended'> => ({
  updateStrategy: { type: 'Rolling', paused: false, ...spec.updateStrategy },
  mesh: spec.networking?.mesh ?? 'None',
  exporter: spec.monitoring?.exporter ?? true,
  fenced: spec.fencing?.enabled ?? false,
  hibernated: spec.hibernation ?? false,
  suspended: spec.suspend ?? false,
});

const withKey = (ref: SecretKeyRef): Required<SecretKeyRef> => ({ name: ref.name, key: ref.key ?? 'password' });

const resolveAuth = ({ auth = {} }: RedisClusterSpec): ResolvedSpec['auth'] => ({
  ...(auth.secretRef === undefined ? {} : { secretRef: withKey(auth.secretRef) }),
  gracePeriodMs: Math.max(parseDurationMs(auth.rotation?.gracePeriod ?? '') ?? 0, MIN_GRACE_PERIOD_MS),
  users: (auth.users ?? []).map(({ secretRef, ...user }) => ({
    ...user,
    ...(secretRef === undefined ? {} : { secretRef: withKey(secretRef) }),
  })),
});

const resolveFailover = (spec: RedisClusterSpec): ResolvedSpec['failover'] => {
  const size = spec.size ?? DEFAULT_SIZE[spec.mode];
  // Half of the pods: then two sides of a partition can never both have enough replicas to take writes.
  const wanted = spec.failover?.minReplicasToWrite ?? Math.floor(size / 2);
  return {
    mode: spec.failover?.mode ?? 'Automatic',
    dataLossPolicy: spec.failover?.dataLossPolicy ?? 'Refuse',
    minReplicasToWrite: spec.mode === 'Standalone' ? 0 : Math.min(wanted, size - 1),
  };
};

const resolveSentinel = ({ sentinel = {} }: RedisClusterSpec): ResolvedSpec['sentinel'] => {
  const replicas = sentinel.replicas ?? DEFAULT_SENTINELS;
  return {
    replicas,
    quorum: sentinel.quorum ?? Math.floor(replicas / 2) + 1,
    downAfterMs: parseDurationMs(sentinel.downAfter ?? '') ?? DEFAULT_DOWN_AFTER_MS,
    failoverTimeoutMs: parseDurationMs(sentinel.failoverTimeout ?? '') ?? DEFAULT_FAILOVER_TIMEOUT_MS,
    resources: sentinel.resources ?? DEFAULT_SENTINEL_RESOURCES,
  };
};
