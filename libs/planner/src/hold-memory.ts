/**
 * A change of memory that would take data away at once. Decided from the wanted spec, from what is rendered now, and from
 * what the pods hold. While it would, limit, maxmemory and policy stay as they are rendered: in the template and in
 * redis.conf too, or the next crash or drained node would do what no rollout may. Held is a limit that leaves less than
 * the pods hold (the kernel would kill them while they copy it), and, unless a person consented, a maxmemory below half of
 * it with a policy that evicts: the rest would be gone within seconds, and it is what a typo looks like. Where no pod says
 * what it holds, nothing is lowered; what is raised is never held.
 */
import {
  largestMaxmemoryBytes,
  memoryLimitBytes,
  parseQuantity,
  parseRedisMemory,
  wantedMaxmemoryBytes,
} from '#domain';
import type { ResolvedSpec } from '#domain';
import type { AnsweringPod, DataPod } from './cluster-view.ts';
import { presentField } from './present-field.ts';
import type { LiveMemory } from './read-live-shape.ts';

export const MEMORY_TOO_SMALL = 'MemoryTooSmall';
const MAXMEMORY_BELOW_DATA = 'MaxmemoryBelowData';

/** More is evicted at once only with a person's consent. */
const EVICTED_AT_ONCE_SHARE = 0.5;
const MIB = 1024 * 1024;

interface MemoryHold {
  /** undefined: no pod said what it holds, so there is nothing to tell yet. */
  readonly refusal: { readonly reason: string; readonly message: string } | undefined;
  readonly kept: Pick<ResolvedSpec, 'memory' | 'config' | 'resources'>;
}

interface MemoryHoldInput {
  readonly wanted: ResolvedSpec;
  readonly live: LiveMemory | undefined;
  readonly dataPods: readonly DataPod[];
  /** Of the spec that asks for it. */
  readonly planHash: string;
  readonly hasConsent: boolean;
}

const answers = (pod: DataPod): pod is AnsweringPod => pod.facts.reachable;

export const holdMemory = (input: MemoryHoldInput): MemoryHold | undefined => {
  const { wanted, live, dataPods } = input;
  if (live === undefined || dataPods.length === 0) return undefined;
  const change = compareMemory(wanted, live);
  const kept = keepLive(wanted, live);
  if (!dataPods.some(answers)) {
    return change.limitIsLowered || (change.evicts && change.isStricter) ? { refusal: undefined, kept } : undefined;
  }
  const refusal = explainLimit(input, change) ?? explainEviction(input, change);
  return refusal && { refusal, kept };
};

/** The most that any data pod holds, in bytes; a replica that is behind holds less than its primary. */
export const heldBytes = (dataPods: readonly DataPod[]): number =>
  Math.max(0, ...dataPods.filter(answers).map(({ facts }) => facts.usedMemoryBytes ?? 0));

interface MemoryChange {
  readonly limitIsLowered: boolean;
  /** In bytes; 0 is no bound. */
  readonly maxmemoryBytes: number;
  readonly liveMaxmemoryBytes: number;
  readonly policy: string;
  readonly evicts: boolean;
  /** Less may be kept than now, or more is evicted at the same bound. */
  readonly isStricter: boolean;
}

const NO_EVICTION = 'noeviction';

const compareMemory = (wanted: ResolvedSpec, live: LiveMemory): MemoryChange => {
  const [limitBytes, liveLimitBytes] = [memoryLimitBytes(wanted.resources), parseQuantity(live.limit ?? '')];
  const maxmemoryBytes = wantedMaxmemoryBytes(wanted);
  const liveMaxmemoryBytes = parseRedisMemory(live.maxmemory ?? '') ?? largestUnder(liveLimitBytes);
  const policy = policyOf(wanted);
  const evicts = isEvicting(policy);
  const beginsToEvict = evicts && !isEvicting(live.policy);
  return {
    limitIsLowered: limitBytes !== undefined && limitBytes < (liveLimitBytes ?? Infinity),
    maxmemoryBytes,
    liveMaxmemoryBytes,
    policy,
    evicts,
    isStricter: maxmemoryBytes > 0 && (isBelow(maxmemoryBytes, liveMaxmemoryBytes) || beginsToEvict),
  };
};

const policyOf = ({ config, memory }: ResolvedSpec): string =>
  config['maxmemory-policy'] ?? memory.policy ?? NO_EVICTION;

const isEvicting = (policy: string | undefined): boolean => (policy ?? NO_EVICTION).toLowerCase() !== NO_EVICTION;

const largestUnder = (limitBytes: number | undefined): number =>
  limitBytes === undefined ? 0 : largestMaxmemoryBytes({}, limitBytes);

const isBelow = (bytes: number, liveBytes: number): boolean => liveBytes === 0 || bytes < liveBytes;

/** A bound that is not lowered with the limit was lived with before: a cache is full, and a little above its maxmemory. */
const explainLimit = ({ wanted, live, dataPods }: MemoryHoldInput, change: MemoryChange): MemoryHold['refusal'] => {
  const limitBytes = memoryLimitBytes(wanted.resources);
  if (limitBytes === undefined || !change.limitIsLowered) return undefined;
  const most = largestMaxmemoryBytes(wanted.memory, limitBytes);
  const { maxmemoryBytes, liveMaxmemoryBytes } = change;
  const isLowered = maxmemoryBytes > 0 && isBelow(maxmemoryBytes, liveMaxmemoryBytes);
  const room = isLowered ? Math.min(most, maxmemoryBytes) : most;
  const held = heldBytes(dataPods);
  if (held <= room) return undefined;
  const message =
    `The memory limit stays ${live?.limit ?? 'without bound'}: ${toMib(limitBytes)} MiB leave ${toMib(room)} MiB for data, ` +
    `and the pods hold ${toMib(held)} MiB; they would be killed while they copy it, or evict keys. Nothing is evicted and no ` +
    'pod is restarted. Set spec.resources back to a larger limit, or remove data first: the limit follows once the data fits.';
  return { reason: MEMORY_TOO_SMALL, message };
};

const explainEviction = (input: MemoryHoldInput, change: MemoryChange): MemoryHold['refusal'] => {
  const { dataPods, hasConsent, planHash } = input;
  const { maxmemoryBytes, policy } = change;
  const held = heldBytes(dataPods);
  if (hasConsent || !change.evicts || !change.isStricter || !dataPods.some(holdsKeys)) return undefined;
  if (maxmemoryBytes >= held * EVICTED_AT_ONCE_SHARE) return undefined;
  const message =
    `maxmemory ${maxmemoryBytes} with policy ${policy} is not taken: the pods hold ${toMib(held)} MiB, and more than half of ` +
    'it would be evicted at once. Set a larger maxmemory, or lower it in steps; to let it happen create a RedisOperation ' +
    `Consent with planHash ${planHash}.`;
  return { reason: MAXMEMORY_BELOW_DATA, message };
};

const holdsKeys = (pod: DataPod): boolean => answers(pod) && pod.facts.keys > 0;

const toMib = (bytes: number): number => Math.floor(bytes / MIB);

/** What is rendered now, said in the words of a spec. */
const keepLive = (wanted: ResolvedSpec, live: LiveMemory): MemoryHold['kept'] => {
  const { maxmemory: _, 'maxmemory-policy': __, ...config } = wanted.config;
  const { memory: ___, ...limits } = wanted.resources.limits ?? {};
  return {
    config: {
      ...config,
      ...presentField('maxmemory', live.maxmemory),
      ...presentField('maxmemory-policy', live.policy),
    },
    memory: {},
    resources: { ...wanted.resources, limits: { ...limits, ...presentField('memory', live.limit) } },
  };
};
