/**
 * spec.memory and maxmemory against the memory limit. Unsafe is what makes the kernel kill Redis before Redis says no:
 * more than the limit leaves after the reserve, or no bound at all under a limit.
 */
import {
  DEFAULT_RESERVE_SHARE,
  declaredMaxmemoryBytes,
  largestMaxmemoryBytes,
  memoryLimitBytes,
  MIN_MAXMEMORY_BYTES,
  MIN_RESERVE_SHARE,
} from './derive-maxmemory.ts';
import { knowsMaxmemoryPolicy } from './engine-catalogue.ts';
import { parseQuantity, parseRedisMemory } from './parse-quantity.ts';
import type { MemorySpec, RedisClusterSpec } from './redis-cluster-spec.ts';
import { SPEC_LIMITS, specProblem, type SpecProblem } from './spec-problem.ts';

export const validateMemory = (spec: RedisClusterSpec): SpecProblem[] => [
  ...validateConfigMaxmemory(spec),
  ...(spec.memory === undefined
    ? []
    : [
        ...validateShape(spec.memory, spec),
        ...validateReserve(spec.memory, memoryLimitBytes(spec.resources)),
        ...validateAmount(spec.memory, memoryLimitBytes(spec.resources)),
        ...validatePolicy(spec.memory, spec),
      ]),
];

const invalid = (field: string, message: string): SpecProblem => specProblem(field, 'INVALID_MEMORY', message);

/** A directive of the user's own may go up to the limit, as release 0.1.0 took it; 0 means no bound at all. */
const validateConfigMaxmemory = ({ resources, config }: RedisClusterSpec): SpecProblem[] => {
  const limitBytes = parseQuantity(resources?.limits?.['memory'] ?? '');
  const text = config?.['maxmemory'];
  const bytes = parseRedisMemory(text ?? '');
  if (limitBytes === undefined || bytes === undefined || isWithin(bytes, limitBytes)) return [];
  const message =
    `maxmemory ${text} (${bytes > 0 ? `${bytes} bytes` : 'no limit'}) is above the memory limit of ` +
    `${limitBytes} bytes: the kernel would kill Redis first. Use at most 75 % of the limit, or leave it out.`;
  return [specProblem('config/maxmemory', 'MAXMEMORY_ABOVE_LIMIT', message)];
};

const isWithin = (maxmemoryBytes: number, limitBytes: number): boolean =>
  maxmemoryBytes > 0 && maxmemoryBytes <= limitBytes;

const validateShape = (memory: MemorySpec, spec: RedisClusterSpec): SpecProblem[] => [
  ...['maxmemory', 'maxmemory-policy']
    .filter((name) => Object.hasOwn(spec.config ?? {}, name))
    .map((name) => {
      const message = `config may not set ${name} beside spec.memory: say it once, in spec.memory.`;
      return specProblem('config', 'INVALID_MEMORY', message, name);
    }),
  ...(memory.maxmemory !== undefined && memory.maxmemoryPercent !== undefined
    ? [invalid('memory', 'Give maxmemory or maxmemoryPercent, not both.')]
    : []),
  ...(memoryLimitBytes(spec.resources) === undefined ? refuseWithoutLimit(memory) : []),
  ...validatePercent(memory.maxmemoryPercent),
];

const refuseWithoutLimit = (memory: MemorySpec): SpecProblem[] =>
  (['maxmemoryPercent', 'reserve'] as const)
    .filter((field) => memory[field] !== undefined)
    .map((field) => invalid(`memory/${field}`, 'It is a part of the memory limit: set resources.limits.memory.'));

const validatePercent = (percent: number | undefined): SpecProblem[] => {
  const { minMaxmemoryPercent: min, maxMaxmemoryPercent: max } = SPEC_LIMITS;
  if (percent === undefined || (Number.isInteger(percent) && percent >= min && percent <= max)) return [];
  return [invalid('memory/maxmemoryPercent', `It is a whole number from ${min} to ${max}, not ${percent}.`)];
};

const validateReserve = ({ reserve }: MemorySpec, limitBytes: number | undefined): SpecProblem[] => {
  if (reserve === undefined) return [];
  const bytes = parseQuantity(reserve);
  if (bytes === undefined || bytes < 0) {
    return [specProblem('memory/reserve', 'INVALID_QUANTITY', `${reserve} is no Kubernetes quantity; write 256Mi.`)];
  }
  if (limitBytes === undefined) return [];
  const least = Math.ceil(limitBytes * MIN_RESERVE_SHARE);
  if (bytes >= least && limitBytes - bytes >= MIN_MAXMEMORY_BYTES) return [];
  const message =
    bytes < least
      ? `${reserve} is less than 10 % of the memory limit of ${limitBytes} bytes: at a fork the kernel would kill Redis. Use at least ${least}.`
      : `${reserve} leaves less than ${MIN_MAXMEMORY_BYTES} bytes of the memory limit for data; lower it or raise the limit.`;
  return [invalid('memory/reserve', message)];
};

const validateAmount = (memory: MemorySpec, limitBytes: number | undefined): SpecProblem[] => {
  const field = memory.maxmemory === undefined ? 'memory/maxmemoryPercent' : 'memory/maxmemory';
  if (memory.maxmemory === undefined && memory.maxmemoryPercent === undefined) return [];
  const bytes = declaredMaxmemoryBytes(memory, limitBytes);
  if (bytes === undefined) {
    if (memory.maxmemory === undefined) return [];
    const message = `${memory.maxmemory} is no amount of memory; Redis takes 100mb or 1gb, not Mi, Gi or decimals.`;
    return [invalid(field, message)];
  }
  if (bytes < MIN_MAXMEMORY_BYTES) {
    const message = `maxmemory of ${bytes} bytes is less than Redis needs when empty (0 would mean no bound); use at least 4mb.`;
    return [invalid(field, message)];
  }
  return limitBytes === undefined ? [] : explainAboveReserve(memory, { field, bytes, limitBytes });
};

const explainAboveReserve = (
  memory: MemorySpec,
  { field, bytes, limitBytes }: { readonly field: string; readonly bytes: number; readonly limitBytes: number },
): SpecProblem[] => {
  const most = largestMaxmemoryBytes(memory, limitBytes);
  if (bytes <= most) return [];
  const reserve = memory.reserve ?? `${DEFAULT_RESERVE_SHARE * 100} %`;
  const message =
    `maxmemory of ${bytes} bytes is more than the ${most} that the memory limit of ${limitBytes} leaves after the reserve of ` +
    `${reserve}: at a fork the kernel would kill Redis. Lower it, raise the limit, or set memory.reserve (at least 10 % of the limit).`;
  return [specProblem(field, 'MAXMEMORY_ABOVE_LIMIT', message)];
};

const validatePolicy = ({ policy }: MemorySpec, { engine }: RedisClusterSpec): SpecProblem[] => {
  if (policy === undefined || knowsMaxmemoryPolicy(engine, policy)) return [];
  const message = `${engine.type} ${engine.version} has no policy ${policy}; use noeviction, allkeys-lru, allkeys-lfu, volatile-lru or another that it knows.`;
  return [invalid('memory/policy', message)];
};
