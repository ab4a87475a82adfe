/**
 * How much of the memory limit the data may take. Decided from spec.memory and the limit alone, so that hub, planner and
 * pods say the same. The reserve is for what Redis takes besides the data: pages copied at a fork, the replication
 * backlog, buffers of replicas and clients, fragmentation (redis-engine 3.2; ElastiCache reserves 25 % too). Without it
 * the kernel kills Redis in the middle of a snapshot or of a replica's full synchronisation, which is when it is needed.
 */
import { parseQuantity, parseRedisMemory } from './parse-quantity.ts';
import type { MemorySpec, ResourceRequirements } from './redis-cluster-spec.ts';

/** The parts of a spec, or of a resolved one, that say how much memory the data may take. */
export interface MemoryDemand {
  readonly memory: MemorySpec;
  readonly config: Readonly<Record<string, string>>;
  readonly resources: ResourceRequirements;
}

/** Of the limit; what stays free unless spec.memory.reserve says otherwise. */
export const DEFAULT_RESERVE_SHARE = 0.25;
/** Of the limit; below it no reserve may be declared. */
export const MIN_RESERVE_SHARE = 0.1;
/** An empty server with its backlog and a replica needs about two; below this it would take no write at all. */
export const MIN_MAXMEMORY_BYTES = 4_194_304;

/** Bytes; undefined when there is no limit, or none that can be read. */
export const memoryLimitBytes = (resources: ResourceRequirements | undefined): number | undefined => {
  const bytes = parseQuantity(resources?.limits?.['memory'] ?? '');
  return bytes !== undefined && bytes > 0 && Number.isFinite(bytes) ? bytes : undefined;
};

/** What the limit leaves for the data after the reserve, in bytes. */
export const largestMaxmemoryBytes = ({ reserve }: MemorySpec, limitBytes: number): number => {
  const reserved = reserve === undefined ? undefined : parseQuantity(reserve);
  return Math.floor(reserved === undefined ? limitBytes * (1 - DEFAULT_RESERVE_SHARE) : limitBytes - reserved);
};

/** What spec.memory itself asks for, in bytes; undefined when it leaves the amount to the default. */
export const declaredMaxmemoryBytes = (memory: MemorySpec, limitBytes: number | undefined): number | undefined => {
  if (memory.maxmemory !== undefined) return parseRedisMemory(memory.maxmemory);
  if (limitBytes === undefined) return undefined;
  if (memory.maxmemoryPercent !== undefined) return Math.floor((limitBytes * memory.maxmemoryPercent) / 100);
  return memory.reserve === undefined ? undefined : largestMaxmemoryBytes(memory, limitBytes);
};

/** Of a bound in bytes; 0 is none. */
export const isTooSmallToRun = (maxmemoryBytes: number): boolean =>
  maxmemoryBytes > 0 && maxmemoryBytes < MIN_MAXMEMORY_BYTES;

/** A part of the limit, so it is another amount under another limit; false for an amount that the user names, and for none. */
export const isPartOfLimit = ({ memory, config }: Pick<MemoryDemand, 'memory' | 'config'>): boolean =>
  config['maxmemory'] === undefined &&
  memory.maxmemory === undefined &&
  (memory.maxmemoryPercent !== undefined || memory.reserve !== undefined);

/** What a pod with this spec's own limit is to run, in bytes; 0 is no bound, as in Redis. */
export const wantedMaxmemoryBytes = ({ memory, config, resources }: MemoryDemand): number => {
  const limitBytes = memoryLimitBytes(resources);
  const named = parseRedisMemory(config['maxmemory'] ?? '');
  // An unsafe one is not rendered (unsafe-config.ts).
  const ofConfig = named !== undefined && isTooSmallToRun(named) ? undefined : named;
  const byLimit = limitBytes === undefined ? 0 : largestMaxmemoryBytes({}, limitBytes);
  return ofConfig ?? declaredMaxmemoryBytes(memory, limitBytes) ?? byLimit;
};
