/** SENTINEL's answers as plain data; addresses are what the Sentinel believes, not what is true. */
import { parsePairs, parsePairsList } from './parse-pairs.ts';
import type { Pairs } from './parse-pairs.ts';

export interface SentinelMaster {
  readonly host: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly knownReplicas: number;
  readonly otherSentinels: number;
  readonly quorum: number;
  readonly configEpoch: number;
  readonly fields: Pairs;
}

export interface SentinelPeer {
  readonly host: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly runId: string;
  /** Of replicas: what the node itself said last, `master` or `slave`; empty for Sentinels. */
  readonly roleReported: string;
}

/** SENTINEL MASTER name. */
export const parseSentinelMaster = (reply: unknown): SentinelMaster => {
  const fields = parsePairs(reply);
  return {
    host: fields['ip'] ?? '',
    port: wholeNumber(fields['port']),
    flags: splitFlags(fields['flags']),
    knownReplicas: wholeNumber(fields['num-slaves']),
    otherSentinels: wholeNumber(fields['num-other-sentinels']),
    quorum: wholeNumber(fields['quorum']),
    configEpoch: wholeNumber(fields['config-epoch']),
    fields,
  };
};

/** SENTINEL REPLICAS name, or SENTINEL SENTINELS name. */
export const parseSentinelPeers = (reply: unknown): readonly SentinelPeer[] =>
  parsePairsList(reply).map((fields) => ({
    host: fields['ip'] ?? '',
    port: wholeNumber(fields['port']),
    flags: splitFlags(fields['flags']),
    runId: fields['runid'] ?? '',
    roleReported: fields['role-reported'] ?? '',
  }));

/** One replica as a Sentinel would choose by it. */
export interface ReplicaView {
  readonly host: string;
  readonly port: number;
  /** replica-priority as last seen: the lowest is chosen first, 0 never. */
  readonly priority: number;
  readonly flags: readonly string[];
  /** Age of the INFO that priority and offset are from. */
  readonly infoAgeMs: number;
  /** How far it had applied its primary's stream. */
  readonly offsetBytes: number;
}

/** SENTINEL REPLICAS name, for the choice of a successor. */
export const parseReplicaViews = (reply: unknown): readonly ReplicaView[] =>
  parsePairsList(reply).map((fields) => ({
    host: fields['ip'] ?? '',
    port: wholeNumber(fields['port']),
    // Valkey's newer lines call it replica-priority.
    priority: wholeNumber(fields['slave-priority'] ?? fields['replica-priority']),
    flags: splitFlags(fields['flags']),
    offsetBytes: wholeNumber(fields['slave-repl-offset'] ?? fields['replica-repl-offset']),
    infoAgeMs: wholeNumber(fields['info-refresh']),
  }));

/** SENTINEL CKQUORUM name: `OK 3 usable Sentinels…`, or an error reply, which is no quorum. */
export const parseCheckQuorum = (reply: unknown): boolean => typeof reply === 'string' && reply.startsWith('OK');

const splitFlags = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(',').filter((flag) => flag !== '');

const wholeNumber = (text: string | undefined): number =>
  text !== undefined && /^-?\d+$/.test(text) ? Number(text) : 0;
