/**
 * A change of memory that would take data away at once. Decided from the wanted spec, from what is rendered now, and from
 * what the pods hold. While it would, limit, maxmemory and policy stay as they are rendered: in the template and in
 * redis.conf too, or the next crash or drained node would do what no rollout may. Held is a limit that leaves less than
 * the pods hold (the kernel would kill them while they copy it), and, unless a person consented, a maxmemory below half of
 * it with a policy that evicts: the rest would be gone within seconds, and it is what a typo looks like. While the recorded
 * primary does not say what it holds (it sleeps, is gone, or is loading), nothing is lowered: what was rendered in one such
 * pass would be what is live in the next. A limit that is not lowered is never held: it may be what a pod needs to start.
 */
import {
  WAITING_PRIMARY_HOST,
  largestMaxmemoryBytes,
  memoryLimitBytes,
  parseQuantity,
  parseRedisMemory,
  wantedMaxmemoryBytes,
} from '#domain';
import type { DataSetRecord, ResolvedSpec } from '#domain';
import type { AnsweringPod, DataPod } from './cluster-view.ts';
import { presentField } from './present-field.ts';
import type { LiveMemory } from './read-live-shape.ts';

export const MEMORY_TOO_SMALL = 'MemoryTooSmall';
/** Nobody says what the data set holds. */
export const DATA_NOT_SEEN = 'DataNotSeen';
const MAXMEMORY_BELOW_DATA = 'MaxmemoryBelowData';

/** More is evicted at once only with a person's consent. */
const EVICTED_AT_ONCE_SHARE = 0.5;
const MIB = 1024 * 1024;

interface MemoryHold {
  readonly refusal: { readonly reason: string; readonly message: string };
  readonly kept: Pick<ResolvedSpec, 'memory' | 'config' | 'resources'>;
}

interface MemoryHoldInput {
  readonly wanted: ResolvedSpec;
  readonly live: LiveMemory | undefined;
  readonly dataPods: readonly DataPod[];
  readonly record: DataSetRecord | undefined;
  /** Of the spec that asks for it. */
  readonly planHash: string;
  readonly consents: (hash: string) => boolean;
}

const answers = (pod: DataPod): pod is AnsweringPod => pod.facts.reachable;

/** Without a template there is no data set yet, or none that a limit could be compared with. */
export const holdMemory = (input: MemoryHoldInput): MemoryHold | undefined => {
  const { wanted, live } = input;
  if (live === undefined) return undefined;
  const change = compareMemory(wanted, live);
  const refusal = isSeen(input)
    ? (explainLimit(input, change) ?? explainEviction(input, change))
    : explainUnseen(input, change);
  return refusal && { refusal, kept: keepLive(wanted, live, change) };
};

/** The recorded primary is among those who tell: a replica may be behind, or in the middle of a copy. */
const isSeen = ({ record, dataPods }: MemoryHoldInput): boolean => {
  const primaryPod = record?.primaryPod;
  return dataPods.some((pod) => tells(pod) && (primaryPod === undefined || pod.name === primaryPod));
};

/** What its memory is taken by is its data: it reads none just now, and was not told to wait for it. */
const tells = (pod: DataPod): boolean =>
  answers(pod) &&
  !pod.facts.loading &&
  !pod.facts.syncInProgress &&
  !(pod.facts.role === 'slave' && pod.facts.masterHost === WAITING_PRIMARY_HOST);

const explainUnseen = (input: MemoryHoldInput, change: MemoryChange): MemoryHold['refusal'] | undefined => {
  const { wanted, dataPods, planHash, consents } = input;
  if (!change.limitIsLowered && !(change.evicts && change.isStricter)) return undefined;
  const hash = unseenHash(planHash);
  if (isNew(input) || consents(hash)) return undefined;
  const sleeps = wanted.hibernated && dataPods.length === 0;
  const message =
    `Memory limit and maxmemory are not lowered while ${sleeps ? 'the data set sleeps' : 'its primary does not answer, or loads'}: ` +
    'nobody says how much it holds. ' +
    (sleeps
      ? 'Wake it first (spec.hibernation: false), or set the larger values again. '
      : 'It goes on by itself once the primary has its data; a larger limit is taken at once. ') +
    `To lower them unseen, at the risk of keys, create a RedisOperation Consent with planHash ${hash}.`;
  return { reason: DATA_NOT_SEEN, message };
};

/** Another one than the change's own: who consented to its rollout, or to an eviction, did not consent to this. */
const unseenHash = (planHash: string): string => `unseen-${planHash}`;

/** Nobody was ever seen as its primary, so its pods may wait for a node that is as large as a limit nobody meant. */
const isNew = ({ record, dataPods }: MemoryHoldInput): boolean =>
  record?.primaryVersion === undefined &&
  !dataPods.some((pod) => answers(pod) && (pod.facts.loading || pod.facts.keys > 0));

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
const explainLimit = (
  { wanted, live, dataPods }: MemoryHoldInput,
  change: MemoryChange,
): MemoryHold['refusal'] | undefined => {
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

const explainEviction = (input: MemoryHoldInput, change: MemoryChange): MemoryHold['refusal'] | undefined => {
  const { dataPods, consents, planHash } = input;
  const { maxmemoryBytes, policy } = change;
  const held = heldBytes(dataPods);
  if (!change.evicts || !change.isStricter || !dataPods.some(holdsKeys) || consents(planHash)) return undefined;
  if (maxmemoryBytes >= held * EVICTED_AT_ONCE_SHARE) return undefined;
  const message =
    `maxmemory ${maxmemoryBytes} with policy ${policy} is not taken: the pods hold ${toMib(held)} MiB, and more than half of ` +
    'it would be evicted at once. Set a larger maxmemory, or lower it in steps; to let it happen create a RedisOperation ' +
    `Consent with planHash ${planHash}.`;
  return { reason: MAXMEMORY_BELOW_DATA, message };
};

const holdsKeys = (pod: DataPod): boolean => answers(pod) && pod.facts.keys > 0;

const toMib = (bytes: number): number => Math.floor(bytes / MIB);

/** What is rendered now, said in the words of a spec; of the resources only what would be lowered. */
const keepLive = (wanted: ResolvedSpec, live: LiveMemory, { limitIsLowered }: MemoryChange): MemoryHold['kept'] => {
  const { maxmemory: _, 'maxmemory-policy': __, ...config } = wanted.config;
  return {
    config: {
      ...config,
      ...presentField('maxmemory', live.maxmemory),
      ...presentField('maxmemory-policy', live.policy),
    },
    memory: {},
    resources: limitIsLowered ? keepResources(wanted.resources, live) : wanted.resources,
  };
};

/** The request stays with its limit: it alone would be another template, and its pods the first to be evicted. */
const keepResources = (
  { requests, limits }: ResolvedSpec['resources'],
  live: LiveMemory,
): ResolvedSpec['resources'] => ({
  ...presentField('requests', live.request === undefined ? requests : withMemory(requests, live.request.memory)),
  ...presentField('limits', withMemory(limits, live.limit)),
});

/** undefined in place of nothing at all, as a server keeps it. */
const withMemory = (quantities: Readonly<Record<string, string>> = {}, memory: string | undefined) => {
  if (memory !== undefined) return { ...quantities, memory };
  const { memory: _, ...rest } = quantities;
  return Object.keys(rest).length === 0 ? undefined : rest;
};
