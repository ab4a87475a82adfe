/**
 * The directives of redis.conf that follow from the spec; the entrypoint adds what only a pod knows (addresses, ACL
 * file, whom to replicate). The same record is what the planner compares a live server with.
 *
 * `min-replicas-to-write` (spec.failover, by default half of the size) with a max lag of 10 s is set whenever there is
 * somebody to replicate to, also at size 2: it is what bounds two writable primaries to max-lag + 2 s, since a primary
 * that is cut off from its replicas fences itself (30 s of partition: 3,921 writes lost instead of 14,827). Its price: a
 * primary whose last replica is gone takes no writes until one is back, and a new one takes none before its first replica
 * is linked.
 *
 * What the user may not have (unsafe values) is left out and told by the planner. What a server refuses is not known
 * here: the entrypoint leaves such lines out at each start, so no value can keep a pod from starting.
 */
import { createHash } from 'node:crypto';
import {
  declaredMaxmemoryBytes,
  explainUnsafeConfig,
  largestMaxmemoryBytes,
  memoryLimitBytes,
  parseQuantity,
  RESTART_ONLY_CONFIG,
  RESTART_ONLY_SINCE_RENDER_VERSION_2,
  type ResolvedSpec,
  ownValue,
} from '#domain';

export const MIN_REPLICAS_MAX_LAG_S = 10;

/**
 * Directive → value as in redis.conf, the user's own last. Values are single lines; an empty one means `""`. The default
 * maxmemory, a share of the memory limit, is not among them: a running pod keeps the limit it was started with, so raising
 * maxmemory before its restart would let the kernel kill it. It stands in the pod template, beside the limit. What
 * spec.memory declares is among them, so that it changes without a restart: the planner sets it only on a pod whose own
 * limit holds it, and the entrypoint of a pod with an older, smaller limit leaves it out.
 */
export const redisDirectives = (spec: ResolvedSpec): Readonly<Record<string, string>> => ({
  appendonly: spec.persistenceEnabled ? 'yes' : 'no',
  appendfsync: spec.persistence.fsync,
  save: spec.persistence.save.map(({ seconds, changes }) => `${seconds} ${changes}`).join(' '),
  // A copy that came from the primary is no file to start from later, where nothing is to be kept.
  'rdb-del-sync-files': spec.persistenceEnabled ? 'no' : 'yes',
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '0',
  'repl-backlog-size': '16777216',
  'min-replicas-to-write': String(spec.failover.minReplicasToWrite),
  'min-replicas-max-lag': String(MIN_REPLICAS_MAX_LAG_S),
  ...memoryDirectives(spec),
  ...safeConfig(spec.config),
});

const memoryDirectives = ({ memory, resources }: ResolvedSpec): Readonly<Record<string, string>> => {
  const bytes = declaredMaxmemoryBytes(memory, memoryLimitBytes(resources));
  return {
    ...(bytes === undefined ? {} : { maxmemory: String(bytes) }),
    ...(memory.policy === undefined ? {} : { 'maxmemory-policy': memory.policy }),
  };
};

const safeConfig = (config: ResolvedSpec['config']): ResolvedSpec['config'] =>
  Object.fromEntries(Object.entries(config).filter(([name, value]) => explainUnsafeConfig(name, value) === undefined));

/** Bytes for maxmemory under the memory limit, unless the user says otherwise; undefined without a limit. */
export const maxmemoryFromLimit = (spec: ResolvedSpec): string | undefined => {
  const limitBytes = parseQuantity(spec.resources.limits?.['memory'] ?? '');
  return limitBytes === undefined ? undefined : String(largestMaxmemoryBytes({}, limitBytes));
};

/** redis.conf text, sorted by directive so that equal specs give equal bytes. */
export const renderRedisConfig = (spec: ResolvedSpec): string => {
  const directives = redisDirectives(spec);
  const lines = Object.keys(directives)
    .sort()
    .map((name) => `${name} ${ownValue(directives, name) || '""'}`);
  return `${lines.join('\n')}\n`;
};

/**
 * Differs exactly when a directive differs that needs a restart; part of the pod template, so the revision tells. For
 * what release 0.1.0 accepted, render version 1 gives the value that it gave.
 */
export const restartHash = (spec: ResolvedSpec, renderVersion: number): string => {
  // None of the operator's own directives needs a restart.
  const directives = renderVersion > 1 ? safeConfig(spec.config) : spec.config;
  const text = Object.keys(directives)
    .filter((name) => RESTART_ONLY_CONFIG.has(name))
    .filter((name) => renderVersion > 1 || !RESTART_ONLY_SINCE_RENDER_VERSION_2.has(name))
    .sort()
    .map((name) => `${name}=${ownValue(directives, name)}`)
    .join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
};
