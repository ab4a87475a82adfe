/**
 * What one Redis says of itself, from INFO and CONFIG GET. Pure: the same text always gives the same facts.
 * A replica's offset is the larger of the two INFO names: a restarted replica that has not met its primary yet only
 * carries what it loaded from disk in `master_repl_offset`.
 */
import type { RedisNodeFacts } from '#domain';
import { countKeys, parseInfo, readInfoNumber } from './parse-info.ts';
import type { InfoFields } from './parse-info.ts';
import type { Pairs } from './parse-pairs.ts';

export type ReachableRedis = Extract<RedisNodeFacts, { reachable: true }>;

/** INFO sections that the facts are read from; asked for in one command (Redis 7.0 and later take several). */
export const INFO_SECTIONS = ['server', 'replication', 'persistence', 'memory', 'keyspace'] as const;

export const buildRedisFacts = (infoText: string, config: Pairs): ReachableRedis => readRedis(infoText, config).facts;

export interface RedisReading {
  readonly facts: ReachableRedis;
  /** How far a replica has read its primary's stream: further than `offsetBytes` where it has not applied all of it. */
  readonly readBytes: number;
}

export const readRedis = (infoText: string, config: Pairs): RedisReading => {
  const info = parseInfo(infoText);
  return { facts: readFacts(info, config), readBytes: readInfoNumber(info, 'slave_read_repl_offset', 0) };
};

const readFacts = (info: InfoFields, config: Pairs): ReachableRedis => {
  const role = info['role'] === 'slave' ? 'slave' : 'master';
  return {
    reachable: true,
    role,
    ...readIdentity(info),
    ...readLineage(info),
    ...(role === 'slave' ? readReplicaFields(info) : {}),
    syncInProgress: info['master_sync_in_progress'] === '1',
    ...readFailover(info),
    ...readSecondOffset(info),
    connectedReplicas: readInfoNumber(info, 'connected_slaves', 0),
    loading: info['loading'] === '1' || info['async_loading'] === '1',
    keys: countKeys(info),
    ...readMemory(info),
    ...readPersistence(info),
    config: { ...config },
  };
};

const readMemory = (info: InfoFields): Pick<ReachableRedis, 'usedMemoryBytes' | 'maxmemoryBytes'> => {
  const [used, max] = [readInfoNumber(info, 'used_memory', -1), readInfoNumber(info, 'maxmemory', -1)];
  return { ...(used < 0 ? {} : { usedMemoryBytes: used }), ...(max < 0 ? {} : { maxmemoryBytes: max }) };
};

const readIdentity = (info: InfoFields): Pick<ReachableRedis, 'runId' | 'version' | 'engine'> => ({
  runId: info['run_id'] ?? '',
  version: info['valkey_version'] ?? info['redis_version'] ?? '',
  engine: info['valkey_version'] === undefined ? 'Redis' : 'Valkey',
});

const readLineage = (
  info: InfoFields,
): Pick<ReachableRedis, 'replicationId' | 'secondReplicationId' | 'offsetBytes'> => ({
  replicationId: info['master_replid'] ?? '',
  secondReplicationId: info['master_replid2'] ?? '',
  offsetBytes: Math.max(
    readInfoNumber(info, 'master_repl_offset', 0),
    info['role'] === 'slave' ? readInfoNumber(info, 'slave_repl_offset', 0) : 0,
    0,
  ),
});

/** Only while the server hands itself over (FAILOVER TO). */
const readFailover = (info: InfoFields): Pick<ReachableRedis, 'failoverState'> => {
  const state = info['master_failover_state'] ?? 'no-failover';
  return state === 'no-failover' ? {} : { failoverState: state };
};
/** A rewrite that is scheduled counts as one that runs: until it ends, a new append-only file is not whole. */
const readPersistence = (info: InfoFields): Pick<ReachableRedis, 'aof' | 'save'> => ({
  aof: {
    enabled: info['aof_enabled'] === '1',
    rewriting: info['aof_rewrite_in_progress'] === '1' || info['aof_rewrite_scheduled'] === '1',
    lastWriteOk: info['aof_last_write_status'] !== 'err' && info['aof_last_bgrewrite_status'] !== 'err',
    ...(info['aof_last_write_status'] === 'err' ? { writesFail: true as const } : {}),
  },
  save: {
    inProgress: info['rdb_bgsave_in_progress'] === '1',
    lastOk: info['rdb_last_bgsave_status'] !== 'err',
    lastAtSeconds: readInfoNumber(info, 'rdb_last_save_time', 0),
    changesSince: readInfoNumber(info, 'rdb_changes_since_last_save', 0),
  },
});

/** Up to where the second history is its own past too; -1 where there is none. */
const readSecondOffset = (info: InfoFields): Partial<ReachableRedis> => {
  const offset = readInfoNumber(info, 'second_repl_offset', -1);
  return offset < 0 ? {} : { secondOffsetBytes: offset };
};

const readReplicaFields = (info: InfoFields): Partial<ReachableRedis> => {
  const downForS = readInfoNumber(info, 'master_link_down_since_seconds', -1);
  const lastIoSeconds = readInfoNumber(info, 'master_last_io_seconds_ago', -1);
  return {
    ...(info['master_host'] === undefined ? {} : { masterHost: info['master_host'] }),
    masterPort: readInfoNumber(info, 'master_port', 0),
    linkUp: info['master_link_status'] === 'up',
    ...(downForS < 0 ? {} : { linkDownSinceMs: downForS * 1_000 }),
    ...(lastIoSeconds < 0 ? {} : { lastIoSeconds }),
  };
};
