/** Facts of a node or a Sentinel with sensible values, for pictures that a test draws by hand. */
import { REDIS_PORT, WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT } from '#domain';
import type { RedisNodeFacts, SentinelFacts } from '#domain';

export type ReachableFacts = Extract<RedisNodeFacts, { reachable: true }>;
export type ReachableSentinelFacts = Extract<SentinelFacts, { reachable: true }>;

export const HISTORY = 'a'.repeat(40);
export const OTHER_HISTORY = 'b'.repeat(40);
export const NO_HISTORY = '0'.repeat(40);

export const masterFacts = (pod: string, change: Partial<ReachableFacts> = {}): ReachableFacts => ({
  reachable: true,
  role: 'master',
  runId: `run-${pod}`,
  version: '8.0.2',
  engine: 'Redis',
  replicationId: HISTORY,
  secondReplicationId: NO_HISTORY,
  offsetBytes: 1_000,
  syncInProgress: false,
  connectedReplicas: 2,
  loading: false,
  keys: 100,
  config: {},
  ...change,
});

export const replicaFacts = (pod: string, host: string, change: Partial<ReachableFacts> = {}): ReachableFacts => ({
  ...masterFacts(pod),
  role: 'slave',
  masterHost: host,
  masterPort: REDIS_PORT,
  linkUp: true,
  connectedReplicas: 0,
  ...change,
});

/** As the guard leaves a pod that must not be primary yet: linked to nobody, by default empty and without history. */
export const waitingFacts = (pod: string, change: Partial<ReachableFacts> = {}): ReachableFacts => ({
  ...replicaFacts(pod, WAITING_PRIMARY_HOST),
  masterPort: WAITING_PRIMARY_PORT,
  linkUp: false,
  keys: 0,
  offsetBytes: 0,
  replicationId: `fresh-${pod}`,
  ...change,
});

/** Of a data pod or of a Sentinel. */
export const silentFacts = (
  reason: 'TIMEOUT' | 'REFUSED' | 'NO_ADDRESS' = 'TIMEOUT',
): Extract<RedisNodeFacts, { reachable: false }> => ({
  reachable: false,
  reason,
  message: 'No answer.',
});

export const sentinelFacts = (host: string, change: Partial<ReachableSentinelFacts> = {}): ReachableSentinelFacts => ({
  reachable: true,
  myId: 'c'.repeat(40),
  monitors: true,
  primaryHost: host,
  primaryPort: REDIS_PORT,
  flags: 'master',
  knownReplicas: 2,
  replicaHosts: [],
  otherSentinels: 2,
  configEpoch: 1,
  failoverInProgress: false,
  quorumOk: true,
  settings: {
    quorum: '2',
    'down-after-milliseconds': '5000',
    'failover-timeout': '15000',
    'parallel-syncs': '1',
  },
  ...change,
});

export const idleSentinelFacts = (): ReachableSentinelFacts => {
  const { primaryHost: _, primaryPort: __, ...rest } = sentinelFacts('');
  return { ...rest, monitors: false, quorumOk: false, otherSentinels: 0, knownReplicas: 0, settings: {} };
};
