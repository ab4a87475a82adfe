/**
 * The fleet that the bench plays, as a function of numbers: agent i has a key, a member cluster and ten RedisClusters, and
 * each of those has a spec and a status. Seeder and simulator both derive it from here, so nothing is handed over
 * between them, and a hub that accepts the simulator has proven that both say the same.
 */
import { createHash } from 'node:crypto';
import { API_GROUP_VERSION, REDIS_CLUSTER_KIND, type Condition, type PodStatus, type RedisClusterSpec } from '#domain';
import { digestOf, freezeSpec, type DigestEntry, type StatusItem } from '#protocol';

export const CLUSTERS_PER_AGENT = 10;
export const PROJECTS = 20;
export const REGIONS = 8;
/** One RedisCluster in so many is Degraded when the fleet begins: what a filtered list looks for. */
const DEGRADED_EVERY = 97;

/** The kinds of rows that get ids. */
const KIND = { agent: 1, memberCluster: 2, redisCluster: 3, project: 4, kubernetes: 5 } as const;
/** UUIDv7 carry the time of their making, in order; those of the fleet begin here. */
const FIRST_ID_MS = 1_780_000_000_000;
const MADE_AT = '2026-06-01T08:00:00Z';

/** An id of the layout of UUIDv7, ascending with `n`. */
export function fleetId(kind: keyof typeof KIND, n: number): string {
  const time = (FIRST_ID_MS + n).toString(16).padStart(12, '0');
  const tail = n.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${KIND[kind].toString(16).padStart(3, '0')}-8000-${tail}`;
}

/** The number that an id was made of. */
export const numberOf = (id: string): number => Number.parseInt(id.slice(24), 16);

export const fingerprintOf = (agent: number): string => `kubeSystemUid:${fleetId('kubernetes', agent)}`;

/** PKCS#8 PEM of the agent's Ed25519 key: the DER prefix of RFC 8410, then 32 bytes derived from its number. */
export function privateKeyOf(agent: number): string {
  const secret = createHash('sha256').update(`atoll bench, agent ${agent}`).digest();
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret]);
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}

/** One RedisCluster: `n` counts over the whole fleet, `slot` (0 to 9) within its agent. */
export interface FleetObject {
  readonly n: number;
  readonly hubUid: string;
  readonly namespace: string;
  readonly name: string;
}

export function objectOf(agent: number, slot: number): FleetObject {
  const n = agent * CLUSTERS_PER_AGENT + slot;
  return { n, hubUid: fleetId('redisCluster', n), namespace: `team-${slot % 3}`, name: `cache-${slot}` };
}

const RESOURCES = { requests: { memory: '256Mi', cpu: '100m' }, limits: { memory: '512Mi' } };
const specOf = (mode: RedisClusterSpec['mode'], size: number, version: string): RedisClusterSpec => ({
  engine: { type: 'Redis', version },
  mode,
  size,
  resources: RESOURCES,
  config: { 'maxmemory-policy': 'allkeys-lru' },
});
const SPECS: readonly RedisClusterSpec[] = Array.from({ length: CLUSTERS_PER_AGENT }, (_, slot) =>
  slot < 6
    ? specOf('Sentinel', 3, slot % 2 === 0 ? '8.0' : '7.0')
    : slot < 8
      ? specOf('Replication', 3, '8.0')
      : specOf('Standalone', 1, '7.0'),
);
const FROZEN = SPECS.map((spec) => freezeSpec(spec));

const bySlot = <T>(values: readonly T[], slot: number): T => {
  const value = values[slot];
  if (value === undefined) throw new RangeError(`an agent has no RedisCluster ${slot}`);
  return value;
};
export const specOfSlot = (slot: number): RedisClusterSpec => bySlot(SPECS, slot);
/** Text and hash of the first generation. */
export const frozenSpecOfSlot = (slot: number): { readonly text: string; readonly hash: string } =>
  bySlot(FROZEN, slot);

/** The entries of the digest of an agent that has applied the first generation of all. */
export const firstDigest = (agent: number): string =>
  digestOf(
    Array.from({ length: CLUSTERS_PER_AGENT }, (_, slot): DigestEntry => ({
      hubUid: objectOf(agent, slot).hubUid,
      hubGeneration: 1,
      specHash: frozenSpecOfSlot(slot).hash,
    })),
  );

/** What of a status changes in a run. */
export interface StatusState {
  readonly hubGeneration: number;
  /** Counts the changes so far; shown as the term and as a pod's readiness. */
  readonly changes: number;
  readonly degraded: boolean;
}

export const firstStatus = (n: number): StatusState => ({
  hubGeneration: 1,
  changes: 0,
  degraded: n % DEGRADED_EVERY === 0,
});

const conditionsOf = (state: StatusState): Condition[] => {
  const condition = (type: Condition['type'], isTrue: boolean, reason: string, message: string): Condition => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason,
    message,
    observedGeneration: state.hubGeneration,
    lastTransitionTime: MADE_AT,
  });
  const { degraded } = state;
  return [
    condition('Ready', !degraded, degraded ? 'PodsMissing' : 'AllReady', 'Every pod answers and replicates.'),
    condition('Reconciling', false, 'Settled', 'Everything is as the spec asks for.'),
    condition('Stalled', false, 'Progressing', 'Nothing holds the operator up.'),
    condition('Available', true, 'PrimaryAnswers', 'The primary answers writes.'),
    condition('Degraded', degraded, degraded ? 'PodNotReady' : 'AllReady', 'One pod in this set is looked at.'),
    condition('ReplicationHealthy', !degraded, 'LinksUp', 'Every replica follows the confirmed primary.'),
    condition('ConfigApplied', true, 'Applied', 'All directives are in force on all servers.'),
    condition('CredentialsInSync', true, 'Settled', 'One password is valid, and all servers know it.'),
  ];
};

function podsOf(slot: number, state: StatusState): PodStatus[] {
  const { mode, size = 1 } = specOfSlot(slot);
  const name = `cache-${slot}`;
  const data = Array.from({ length: size }, (_, at): PodStatus => ({
    name: `${name}-${at}`,
    role: at === 0 ? 'primary' : 'replica',
    ready: !(state.degraded && at === size - 1),
    node: `node-${at}`,
    ip: `10.42.${slot}.${at + 10}`,
    ...(at === 0 ? {} : { link: 'up' as const }),
  }));
  if (mode !== 'Sentinel') return data;
  const sentinels = Array.from({ length: 3 }, (_, at): PodStatus => ({
    name: `${name}-sentinel-${at}`,
    role: 'sentinel',
    ready: true,
    node: `node-${at}`,
    ip: `10.42.${slot}.${at + 20}`,
  }));
  return [...data, ...sentinels];
}

/** Everything that is told of one RedisCluster and is the same in every agent. */
export function statusBodyOf(slot: number, state: StatusState): Omit<StatusItem, 'hubUid' | 'uid' | 'dataSetId'> {
  const { mode, engine, size = 1 } = specOfSlot(slot);
  const { namespace, name } = objectOf(0, slot);
  const host = `${name}.${namespace}.svc`;
  return {
    namespace,
    name,
    kind: REDIS_CLUSTER_KIND,
    observedHubGeneration: state.hubGeneration,
    observedGeneration: state.hubGeneration,
    phase: state.degraded ? 'Degraded' : 'Ready',
    conditions: conditionsOf(state),
    ...(mode === undefined ? {} : { mode }),
    engineVersion: engine.version,
    size,
    readyPods: size - (state.degraded ? 1 : 0),
    currentPrimary: `${name}-0`,
    primaryTerm: 1 + state.changes,
    endpoints: { primary: `${host}:6379`, replicas: `${name}-replicas.${namespace}.svc:6379`, connectionSecret: name },
    pods: podsOf(slot, state),
    foreignFields: [],
    details: { credentials: { version: 1, step: 'Settled' }, config: { applied: 1, pendingRestart: [], rejected: [] } },
    numbers: { keys: 1_000 + state.changes, usedMemoryBytes: 52_428_800, connectedClients: 12 },
  };
}

export const API_VERSION_OF_ALL = API_GROUP_VERSION;

/** Of the custom resource in its member cluster. */
export const kubeUidOf = (hubUid: string): string => fleetId('kubernetes', numberOf(hubUid));

/** The item as it travels. `hash` is opaque to the hub: it differs whenever anything but `numbers` differs. */
export function statusItemOf(agent: number, slot: number, state: StatusState): StatusItem {
  const { hubUid } = objectOf(agent, slot);
  return {
    hubUid,
    uid: kubeUidOf(hubUid),
    dataSetId: hubUid,
    ...statusBodyOf(slot, state),
    hash: itemHashOf(hubUid, state),
  };
}

export function itemHashOf(hubUid: string, { hubGeneration, changes, degraded }: StatusState): string {
  const text = `${hubUid}|${hubGeneration}|${changes}|${degraded}`;
  return createHash('sha256').update(text).digest('hex').slice(32);
}
