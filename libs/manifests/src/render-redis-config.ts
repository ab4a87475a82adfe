/**
 * The directives of redis.conf that follow from the spec; the entrypoint adds what only a pod knows (addresses, ACL
 * file, whom to replicate). The same record is what the planner compares a live server with.
 *
 * `min-replicas-to-write 1` with a max lag of 10 s is set whenever there is somebody to replicate to, also at size 2:
 * it is what bounds two writable primaries to max-lag + 2 s, since a primary that is cut off from its replicas fences
 * itself (30 s of partition: 3,921 writes lost instead of 14,827). Its price: a primary whose last replica is gone
 * takes no writes until one is back, and a new one takes none before its first replica is linked.
 */
import { createHash } from 'node:crypto';
import { parseQuantity, RESTART_ONLY_CONFIG, type ResolvedSpec } from '#domain';

export const MIN_REPLICAS_TO_WRITE = 1;
export const MIN_REPLICAS_MAX_LAG_S = 10;

/** The rest is for replication backlog, client buffers, fork copies (redis-engine 3.2; ElastiCache reserves 25 % too). */
const MAXMEMORY_SHARE_OF_LIMIT = 0.75;

/**
 * Directive → value as in redis.conf, the user's own last. Values are single lines; an empty one means `""`. A maxmemory
 * that follows from the memory limit is not among them: a running pod keeps the limit it was started with, so raising
 * maxmemory before its restart would let the kernel kill it. It stands in the pod template, beside the limit.
 */
export const redisDirectives = (spec: ResolvedSpec): Readonly<Record<string, string>> => ({
  appendonly: spec.persistenceEnabled ? 'yes' : 'no',
  appendfsync: 'everysec',
  save: '',
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '0',
  'repl-backlog-size': '16777216',
  'min-replicas-to-write': String(isReplicated(spec) ? MIN_REPLICAS_TO_WRITE : 0),
  'min-replicas-max-lag': String(MIN_REPLICAS_MAX_LAG_S),
  ...spec.config,
});

const isReplicated = (spec: ResolvedSpec): boolean => spec.mode !== 'Standalone' && spec.size > 1;

/** Bytes for maxmemory under the memory limit, unless the user sets it; undefined without a limit. */
export const maxmemoryFromLimit = (spec: ResolvedSpec): string | undefined => {
  const limitBytes = parseQuantity(spec.resources.limits?.['memory'] ?? '');
  return limitBytes === undefined ? undefined : String(Math.floor(limitBytes * MAXMEMORY_SHARE_OF_LIMIT));
};

/** redis.conf text, sorted by directive so that equal specs give equal bytes. */
export const renderRedisConfig = (spec: ResolvedSpec): string => {
  const directives = redisDirectives(spec);
  const lines = Object.keys(directives)
    .sort()
    .map((name) => `${name} ${directives[name] || '""'}`);
  return `${lines.join('\n')}\n`;
};

/** Differs exactly when a directive differs that needs a restart; part of the pod template, so the revision tells. */
export const restartHash = (spec: ResolvedSpec): string => {
  const directives = redisDirectives(spec);
  const text = Object.keys(directives)
    .filter((name) => RESTART_ONLY_CONFIG.has(name))
    .sort()
    .map((name) => `${name}=${directives[name]}`)
    .join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
};
