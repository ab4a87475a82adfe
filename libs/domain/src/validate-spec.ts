/**
 * What a RedisCluster's spec must fulfil, decided from the spec alone. The CRD's schema and CEL rules refuse most of it
 * at admission; this is the same list for the hub (userErrors before anything is stored) and for the planner
 * (condition SpecRejected), and the whole of what CEL cannot express: quantities against each other, the catalogue of
 * engines, value grammar. Without it a wrong value surfaces as a pod in CrashLoopBackOff.
 */
import { ownValue } from './own-value.ts';
import { ENGINE_LINES, engineLine } from './engine-catalogue.ts';
import { explainOwnedConfig } from './operator-owned-config.ts';
import { parseDurationMs } from './parse-duration.ts';
import { parseQuantity, parseRedisMemory } from './parse-quantity.ts';
import { isSystemPriorityClass } from './priority-class.ts';
import { isContainerResourceName, isDnsSubdomain, isImageReference } from './pod-field-grammar.ts';
import type { Mode, RedisClusterSpec, ResourceRequirements, SentinelSpec, StorageSpec } from './redis-cluster-spec.ts';
import { SPEC_LIMITS, specProblem as problem, type SpecProblem } from './spec-problem.ts';
import { explainUnsafeConfig } from './unsafe-config.ts';
import { validateAuth } from './validate-auth.ts';
import { validateCare } from './validate-care.ts';
import { validateMemory } from './validate-memory.ts';
import { validateNames } from './validate-names.ts';

/** Fewest data pods a mode makes sense with: Sentinel needs somebody to fail over to. */
export const MIN_SIZE: Readonly<Record<Mode, number>> = { Standalone: 1, Replication: 1, Sentinel: 2 };

const DAY_MS = 86_400_000;
/** 0.1 and 100m are the same amount, and not the same number. */
const ROUNDING = 1 + 1e-9;
const CONFIG_NAME = /^[a-z][a-z0-9_-]*$/;
/** Printable ASCII without quotes and backslash: nothing that could end the line or its quoting in redis.conf. */
const CONFIG_VALUE = /^[ !#-&(-[\]-~]*$/;
const MEMORY_DIRECTIVES = new Set(['maxmemory', 'repl-backlog-size', 'proto-max-bulk-len']);

/** Every problem of the spec, in the order of its fields; empty when it may be applied. Never throws. */
export const validateSpec = (spec: RedisClusterSpec): readonly SpecProblem[] => [
  ...validateEngine(spec),
  ...validateImage(spec),
  ...validateSize(spec),
  ...(spec.sentinel === undefined ? [] : validateSentinel(spec.mode, spec.sentinel)),
  ...validateConfig(spec.config ?? {}),
  ...validateResources(spec),
  ...validateMemory(spec),
  ...validateStorage(spec),
  ...validateVolumeUse(spec),
  ...validateAuth(spec.auth ?? {}),
  ...validateCare(spec),
  ...validateNames(spec),
];

/**
 * What a spec that is new, or changed here, must fulfil besides: it would run, yet not as its author meant. Not asked of
 * what lies in a member cluster already: an upgrade must never stop the care for a data set that worked.
 */
export const validateNewSpec = (spec: RedisClusterSpec): readonly SpecProblem[] => [
  ...validateSpec(spec),
  ...validateDayLimit(spec.sentinel ?? {}),
  ...validateUnusedClass(spec.storage),
  ...validateUnsafeConfig(spec.config ?? {}),
  ...validatePriority(spec.scheduling?.priorityClassName),
];

const validateEngine = ({ engine }: RedisClusterSpec): SpecProblem[] => {
  const lines = ownValue<readonly string[]>(ENGINE_LINES, engine.type) ?? [];
  if (/^\d+\.\d+(\.\d+)?$/.test(engine.version) && lines.includes(engineLine(engine.version))) return [];
  const known = lines.length > 0 ? `${engine.type} ${lines.join(', ')}` : 'Redis and Valkey';
  return [problem('engine/version', 'UNSUPPORTED_VERSION', `${engine.version} is not supported; use one of ${known}.`)];
};

const validateImage = ({ engine: { image } }: RedisClusterSpec): SpecProblem[] => {
  if (image === undefined || isImageReference(image)) return [];
  const message = `${image} is no image reference; write it as registry.example/redis:8.0.`;
  return [problem('engine/image', 'INVALID_IMAGE', message)];
};

const validateSize = ({ mode, size }: RedisClusterSpec): SpecProblem[] => {
  if (size === undefined) return [];
  if (mode === 'Standalone' && size !== 1) {
    return [problem('size', 'INVALID_SIZE', 'Standalone has one pod; leave size out, or set mode Replication.')];
  }
  const min = ownValue(MIN_SIZE, mode) ?? 1;
  if (Number.isInteger(size) && size >= min && size <= SPEC_LIMITS.maxSize) return [];
  return [problem('size', 'INVALID_SIZE', `${mode} takes a size from ${min} to ${SPEC_LIMITS.maxSize}, not ${size}.`)];
};

const validateSentinel = (mode: Mode, sentinel: SentinelSpec): SpecProblem[] => [
  ...(mode === 'Sentinel'
    ? []
    : [problem('sentinel', 'INVALID_SENTINEL', `spec.sentinel has no meaning in mode ${mode}; remove it.`)]),
  ...validateSentinelCounts(sentinel),
  ...validateSentinelTimes(sentinel),
];

const validateSentinelCounts = ({ replicas = SPEC_LIMITS.minSentinels, quorum }: SentinelSpec): SpecProblem[] => {
  const problems: SpecProblem[] = [];
  const { minSentinels, maxSentinels } = SPEC_LIMITS;
  if (replicas % 2 !== 1 || replicas < minSentinels || replicas > maxSentinels) {
    const message = `Sentinels must be an odd number from ${minSentinels} to ${maxSentinels}, not ${replicas}.`;
    problems.push(problem('sentinel/replicas', 'INVALID_SENTINEL', message));
  }
  if (quorum !== undefined && (!Number.isInteger(quorum) || quorum < 1 || quorum > replicas)) {
    const message = `The quorum must be from 1 to the number of Sentinels (${replicas}), not ${quorum}.`;
    problems.push(problem('sentinel/quorum', 'INVALID_SENTINEL', message));
  }
  return problems;
};

const validateSentinelTimes = (sentinel: SentinelSpec): SpecProblem[] =>
  (['downAfter', 'failoverTimeout'] as const).flatMap((field) => {
    const text = sentinel[field];
    if (text === undefined || (parseDurationMs(text) ?? 0) > 0) return [];
    return [problem(`sentinel/${field}`, 'INVALID_DURATION', `${text} is no duration; write 500ms, 5s or 1m.`)];
  });

const validateUnsafeConfig = (config: Readonly<Record<string, string>>): SpecProblem[] =>
  Object.entries(config).flatMap(([name, value]) => {
    const because = explainUnsafeConfig(name, value);
    return because === undefined ? [] : [problem(`config/${name}`, 'INVALID_CONFIG', `${name} ${value}: ${because}.`)];
  });

const validatePriority = (name: string | undefined): SpecProblem[] => {
  if (name === undefined || !isSystemPriorityClass(name)) return [];
  const message = `${name} belongs to Kubernetes' own components; a PriorityClass of your cluster may be named.`;
  return [problem('scheduling/priorityClassName', 'INVALID_SCHEDULING', message)];
};

const validateDayLimit = (sentinel: SentinelSpec): SpecProblem[] =>
  (['downAfter', 'failoverTimeout'] as const).flatMap((field) => {
    const text = sentinel[field] ?? '';
    if ((parseDurationMs(text) ?? 0) <= DAY_MS) return [];
    return [problem(`sentinel/${field}`, 'INVALID_DURATION', `${text} is more than a day; at most 24h is accepted.`)];
  });

const validateConfig = (config: Readonly<Record<string, string>>): SpecProblem[] => {
  const names = Object.keys(config);
  if (names.length > SPEC_LIMITS.maxConfigKeys) {
    return [problem('config', 'INVALID_CONFIG', `At most ${SPEC_LIMITS.maxConfigKeys} directives are accepted.`)];
  }
  return names.flatMap((name) => {
    const found = explainConfigProblem(name, ownValue(config, name) ?? '');
    return found === undefined ? [] : [problem(`config/${name}`, found.code, found.message)];
  });
};

const explainConfigProblem = (name: string, value: string): Omit<SpecProblem, 'path'> | undefined => {
  const owned = explainOwnedConfig(name);
  if (owned !== undefined) return { code: 'OPERATOR_OWNED_CONFIG', message: `${name} may not be set: ${owned}.` };
  if (!CONFIG_NAME.test(name)) {
    return { code: 'INVALID_CONFIG', message: `${name} is no directive; write it in lower case as in redis.conf.` };
  }
  if (!CONFIG_VALUE.test(value) || value.length > SPEC_LIMITS.maxConfigValueLength) {
    const message = `The value of ${name} must be one line of at most 4096 plain characters, without quotes or backslash.`;
    return { code: 'INVALID_CONFIG', message };
  }
  if (MEMORY_DIRECTIVES.has(name) && parseRedisMemory(value) === undefined) {
    const message = `${value} is no amount of memory for ${name}; Redis takes 100mb or 1gb, not Mi, Gi or decimals.`;
    return { code: 'INVALID_CONFIG', message };
  }
  return undefined;
};

const validateResources = (spec: RedisClusterSpec): SpecProblem[] => [
  ...validateQuantities('resources', spec.resources ?? {}),
  ...validateQuantities('sentinel/resources', spec.sentinel?.resources ?? {}),
];

const validateQuantities = (path: string, resources: ResourceRequirements): SpecProblem[] =>
  (['requests', 'limits'] as const).flatMap((part) =>
    Object.entries(resources[part] ?? {}).flatMap(([name, amount]) => {
      const found = explainQuantityProblem(part, name, amount, resources);
      return found === undefined ? [] : [problem(`${path}/${part}`, found.code, found.message, name)];
    }),
  );

/** Undefined for what is no amount that one can have: no quantity, below zero, or endless. */
const readAmount = (text: string): number | undefined => {
  const amount = parseQuantity(text) ?? -1;
  return amount >= 0 && Number.isFinite(amount) ? amount : undefined;
};

const explainQuantityProblem = (
  part: 'requests' | 'limits',
  name: string,
  amount: string,
  { limits }: ResourceRequirements,
): Omit<SpecProblem, 'path'> | undefined => {
  if (!isContainerResourceName(name)) {
    const message = `${name} is no resource of a container; use cpu, memory, ephemeral-storage or hugepages-2Mi.`;
    return { code: 'INVALID_RESOURCE', message };
  }
  const wanted = readAmount(amount);
  if (wanted === undefined) {
    return { code: 'INVALID_QUANTITY', message: `${amount} is no Kubernetes quantity.` };
  }
  const limit = ownValue(limits, name) ?? '';
  if (part === 'limits' || wanted <= (readAmount(limit) ?? Infinity) * ROUNDING) return undefined;
  const message = `The request of ${amount} ${name} is above its limit of ${limit}; lower it or raise the limit.`;
  return { code: 'INVALID_RESOURCE', message };
};

const validateStorage = ({ storage }: RedisClusterSpec): SpecProblem[] =>
  storage === undefined ? [] : [...validateVolumeSize(storage), ...validateClassName(storage)];

/** What rests on volumes needs some. */
const validateVolumeUse = (spec: RedisClusterSpec): SpecProblem[] => {
  const hasVolume = spec.storage?.type === 'PersistentVolume';
  const problems: SpecProblem[] = [];
  if (spec.deletionPolicy === 'Snapshot' && !hasVolume) {
    const message = 'Snapshot keeps a volume with the last RDB: it needs storage.type PersistentVolume.';
    problems.push(problem('deletionPolicy', 'VOLUME_REQUIRED', message));
  }
  if (spec.hibernation === true && !(hasVolume && spec.persistence?.enabled !== false)) {
    const message =
      'Without pods the data live on volumes only: it needs storage.type PersistentVolume and persistence.';
    problems.push(problem('hibernation', 'VOLUME_REQUIRED', message));
  }
  return problems;
};

const validateVolumeSize = (storage: StorageSpec): SpecProblem[] => {
  if (storage.size === undefined) {
    if (storage.type === 'Ephemeral') return [];
    return [problem('storage/size', 'STORAGE_SIZE_REQUIRED', 'A PersistentVolume needs a size, for instance 1Gi.')];
  }
  if ((readAmount(storage.size) ?? 0) > 0) return [];
  return [problem('storage/size', 'INVALID_QUANTITY', `${storage.size} is no Kubernetes quantity; write 1Gi.`)];
};

const validateClassName = ({ type, storageClassName }: StorageSpec): SpecProblem[] => {
  if (type === 'Ephemeral' || storageClassName === undefined || isDnsSubdomain(storageClassName)) return [];
  const message = `${storageClassName} is no name of a StorageClass; those have lower case letters, digits, - and . only.`;
  return [problem('storage/storageClassName', 'INVALID_STORAGE_CLASS', message)];
};

const validateUnusedClass = (storage: StorageSpec | undefined): SpecProblem[] => {
  if (storage?.type !== 'Ephemeral' || storage.storageClassName === undefined) return [];
  const message = 'Ephemeral storage has no StorageClass; leave storageClassName out, or set type PersistentVolume.';
  return [problem('storage/storageClassName', 'INVALID_STORAGE_CLASS', message)];
};
