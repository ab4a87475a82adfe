import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildRedisFacts } from './build-redis-facts.ts';
import { buildSentinelFacts } from './build-sentinel-facts.ts';
import { countKeys, parseInfo, readInfoNumber } from './parse-info.ts';
import { parsePairs, parsePairsList } from './parse-pairs.ts';
import { parseRole } from './parse-role.ts';
import { parseCheckQuorum, parseSentinelMaster, parseSentinelPeers } from './parse-sentinel.ts';

const anyReply = fc.letrec((tie) => ({
  reply: fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean(), fc.array(tie('reply'), { maxLength: 6 })),
})).reply;

describe('parsers on any input', () => {
  it('INFO gives back every name and value that was written, whatever surrounds them', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
    const value = fc.stringMatching(/^[\x20-\x7e]{0,40}$/);
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.constantFrom('\n', '\r\n'), (fields, newline) => {
        const lines = Object.entries(fields).flatMap(([key, text]) => ['# Section', `${key}:${text}`, '']);
        expect({ ...parseInfo(lines.join(newline)) }).toEqual({ ...fields });
      }),
    );
  });

  it('never throw, whatever the server sends', () => {
    fc.assert(
      fc.property(anyReply, fc.string(), (reply, text) => {
        parseInfo(text);
        countKeys(parseInfo(text));
        parsePairs(reply);
        parsePairsList(reply);
        parseRole(reply);
        parseSentinelMaster(reply);
        parseSentinelPeers(reply);
        parseCheckQuorum(reply);
        const facts = buildRedisFacts(text, parsePairs(reply));
        expect(Number.isFinite(facts.offsetBytes) && facts.keys >= 0).toBe(true);
        buildSentinelFacts({ myId: reply, master: reply, replicas: reply, checkQuorum: reply });
      }),
    );
  });

  it('pairs are the same from a flat array and from a map', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), (fields) => {
        const flat = parsePairs(Object.entries(fields).flat());
        expect({ ...flat }).toEqual({ ...parsePairs(new Map(Object.entries(fields))) });
      }),
    );
  });

  it('the keys of all databases are added up', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1_000_000 }), { maxLength: 16 }), (counts) => {
        const text = counts.map((keys, db) => `db${db}:keys=${keys},expires=0,avg_ttl=0`).join('\r\n');
        expect(countKeys(parseInfo(text))).toBe(counts.reduce((sum, keys) => sum + keys, 0));
      }),
    );
  });
});

describe('facts of real answers', () => {
  const replica = [
    '# Server',
    'redis_version:7.0.15',
    'run_id:aaaa',
    '# Persistence',
    'loading:0',
    'async_loading:0',
    '# Replication',
    'role:slave',
    'master_host:10.0.0.7',
    'master_port:6379',
    'master_link_status:down',
    'master_sync_in_progress:1',
    'slave_repl_offset:120',
    'master_link_down_since_seconds:3',
    'connected_slaves:0',
    'master_replid:bbbb',
    'master_replid2:0000',
    'master_repl_offset:140',
    '# Keyspace',
    'db0:keys=5,expires=0,avg_ttl=0',
    'db3:keys=2,expires=1,avg_ttl=10',
  ].join('\r\n');

  it('a replica with its link down', () => {
    expect(buildRedisFacts(replica, { maxmemory: '0' })).toEqual({
      reachable: true,
      role: 'slave',
      runId: 'aaaa',
      version: '7.0.15',
      engine: 'Redis',
      replicationId: 'bbbb',
      secondReplicationId: '0000',
      offsetBytes: 140,
      masterHost: '10.0.0.7',
      masterPort: 6379,
      linkUp: false,
      linkDownSinceMs: 3_000,
      syncInProgress: true,
      connectedReplicas: 0,
      loading: false,
      keys: 7,
      aof: { enabled: false, rewriting: false, lastWriteOk: true },
      save: { inProgress: false, lastOk: true, lastAtSeconds: 0, changesSince: 0 },
      config: { maxmemory: '0' },
    });
  });

  it('an append-only file that takes nothing more is not one whose rewrite failed', () => {
    const failed = (field: string) => buildRedisFacts(`role:master\r\naof_enabled:1\r\n${field}:err`, {}).aof;
    expect(failed('aof_last_write_status')).toMatchObject({ lastWriteOk: false, writesFail: true });
    expect(failed('aof_last_bgrewrite_status')).toEqual({ enabled: true, rewriting: false, lastWriteOk: false });
  });

  it('a link that never was up has no age', () => {
    const text = replica.replace('since_seconds:3', 'since_seconds:-1');
    expect(buildRedisFacts(text, {}).linkDownSinceMs).toBeUndefined();
  });

  it('Valkey tells its own version, and the Redis version it is compatible with is not shown', () => {
    const facts = buildRedisFacts(
      'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\nrole:master',
      {},
    );
    expect([facts.engine, facts.version]).toEqual(['Valkey', '8.1.1']);
  });

  it('a number that is none is the fallback', () => {
    expect(readInfoNumber(parseInfo('a:1.5\nb:x\nc:12'), 'a', -1)).toBe(-1);
    expect(readInfoNumber(parseInfo('a:1.5\nb:x\nc:12'), 'c', -1)).toBe(12);
  });

  it('a Sentinel without the name monitors nothing', () => {
    const facts = buildSentinelFacts({ myId: 'ff', master: undefined, replicas: undefined, checkQuorum: undefined });
    expect(facts).toMatchObject({ monitors: false, quorumOk: false, failoverInProgress: false });
  });

  it('a Sentinel in the middle of a failover says so', () => {
    const master = ['name', 'm', 'ip', '10.0.0.1', 'port', '6379', 'flags', 'master,o_down,failover_in_progress'];
    const facts = buildSentinelFacts({
      myId: 'ff',
      master: [...master, 'num-slaves', '2', 'num-other-sentinels', '2', 'config-epoch', '4', 'quorum', '2'],
      replicas: [['ip', '10.0.0.2', 'port', '6379', 'flags', 'slave']],
      checkQuorum: 'OK 3 usable Sentinels. Quorum and failover authorization can be reached',
    });
    expect(facts).toMatchObject({
      monitors: true,
      primaryHost: '10.0.0.1',
      failoverInProgress: true,
      quorumOk: true,
      configEpoch: 4,
      replicaHosts: ['10.0.0.2'],
      settings: { quorum: '2' },
    });
  });

  it('a Sentinel that leads a failover tells its choice once that one says it is a master', () => {
    const master = ['name', 'm', 'ip', '10.0.0.1', 'port', '6379', 'flags', 'master,s_down,failover_in_progress'];
    const factsWith = (flags: string, role: string) =>
      buildSentinelFacts({
        myId: 'ff',
        master,
        replicas: [
          ['ip', '10.0.0.2', 'flags', 'slave,reconf_sent', 'role-reported', 'slave'],
          ['ip', '10.0.0.3', 'flags', flags, 'role-reported', role],
        ],
        checkQuorum: 'OK',
      });
    expect(factsWith('slave,promoted', 'master').promotedHost).toBe('10.0.0.3');
    expect(factsWith('slave,promoted', 'slave')).not.toHaveProperty('promotedHost');
    expect(factsWith('slave', 'master')).not.toHaveProperty('promotedHost');
  });

  it('ROLE of each kind of node', () => {
    expect(parseRole(['master', 10, [['10.0.0.2', '6379', '9']]])).toEqual({
      role: 'master',
      offsetBytes: 10,
      replicas: [{ host: '10.0.0.2', port: 6379, offsetBytes: 9 }],
    });
    expect(parseRole(['slave', '10.0.0.1', 6379, 'connected', 9])).toMatchObject({ role: 'slave', state: 'connected' });
    expect(parseRole(['sentinel', ['m']])).toEqual({ role: 'sentinel', masterNames: ['m'] });
  });
});
