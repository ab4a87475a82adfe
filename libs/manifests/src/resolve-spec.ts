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
} from '#domain';

const DEFAULT_SIZE: Readonly<Record<Mode, number>> = { Standalone: 1, Replication: 3, Sentinel: 3 };
const DEFAULT_SENTINELS = 3;
/** Sentinel alone fails over 5.4 s after a death with this (redis-engine P16); shorter takes a slow disk for a death. */
const DEFAULT_DOWN_AFTER_MS = 5_000;
/** A Sentinel that lost the vote waits twice this long before the next one: 30 s without a primary, not the two minutes of 60 s. */
const DEFAULT_FAILOVER_TIMEOUT_MS = 15_000;
/** Small enough for a laptop, present so that a pod is never the first to be evicted. */
const DEFAULT_REDIS_RESOURCES: ResourceRequirements = { requests: { cpu: '50m', memory: '64Mi' } };
const DEFAULT_SENTINEL_RESOURCES: ResourceRequirements = { requests: { cpu: '10m', memory: '24Mi' } };

/** The spec with all defaults; expects one that validateSpec found no problem in. */
export const resolveSpec = (spec: RedisClusterSpec): ResolvedSpec => {
  const storage = spec.storage ?? { type: 'Ephemeral' };
  return {
    engine: {
      type: spec.engine.type,
      version: spec.engine.version,
      image: spec.engine.image ?? defaultEngineImage(spec.engine.type, spec.engine.version),
    },
    mode: spec.mode,
    size: spec.size ?? DEFAULT_SIZE[spec.mode],
    sentinel: resolveSentinel(spec),
    config: spec.config ?? {},
    resources: spec.resources ?? DEFAULT_REDIS_RESOURCES,
    storage,
    persistenceEnabled: spec.persistence?.enabled ?? storage.type === 'PersistentVolume',
    deletionPolicy: spec.deletionPolicy ?? 'RetainVolumes',
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
