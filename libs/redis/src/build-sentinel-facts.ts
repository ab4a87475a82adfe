/** What one Sentinel believes of one master name, from SENTINEL MYID, MASTER, REPLICAS and CKQUORUM. Pure. */
import type { SentinelFacts } from '#domain';
import { parseCheckQuorum, parseSentinelMaster, parseSentinelPeers } from './parse-sentinel.ts';

export type ReachableSentinel = Extract<SentinelFacts, { reachable: true }>;

/** Replies of the four commands; `undefined` where the Sentinel answered with an error, as for an unknown name. */
export interface SentinelReplies {
  readonly myId: unknown;
  readonly master: unknown;
  readonly replicas: unknown;
  readonly checkQuorum: unknown;
}

/** Options that SENTINEL SET takes and SENTINEL MASTER shows. */
const SETTINGS = ['quorum', 'down-after-milliseconds', 'failover-timeout', 'parallel-syncs'] as const;

export const buildSentinelFacts = (replies: SentinelReplies): ReachableSentinel => {
  const myId = typeof replies.myId === 'string' ? replies.myId : '';
  if (replies.master === undefined) return notMonitoring(myId);
  const master = parseSentinelMaster(replies.master);
  const replicas = parseSentinelPeers(replies.replicas);
  const promoted = replicas.find(({ flags, roleReported }) => flags.includes('promoted') && roleReported === 'master');
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const value = master.fields[name];
    if (value !== undefined) settings[name] = value;
  }
  return {
    reachable: true,
    myId,
    monitors: true,
    primaryHost: master.host,
    primaryPort: master.port,
    flags: master.flags.join(','),
    knownReplicas: master.knownReplicas,
    replicaHosts: replicas.map((replica) => replica.host),
    ...(promoted === undefined ? {} : { promotedHost: promoted.host }),
    otherSentinels: master.otherSentinels,
    configEpoch: master.configEpoch,
    failoverInProgress: master.flags.includes('failover_in_progress'),
    quorumOk: parseCheckQuorum(replies.checkQuorum),
    settings,
  };
};

const notMonitoring = (myId: string): ReachableSentinel => ({
  reachable: true,
  myId,
  monitors: false,
  knownReplicas: 0,
  otherSentinels: 0,
  configEpoch: 0,
  failoverInProgress: false,
  quorumOk: false,
  settings: {},
});
