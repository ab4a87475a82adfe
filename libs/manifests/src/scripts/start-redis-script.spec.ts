import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WAITING_PRIMARY_HOST } from '#domain';
import { GUARD, GUARD_SCENE, startGuard as start, type GuardScene as Scene } from '#testing';

/** The real scripts on a disk of their own, see startGuard. */
const { names, podIp: ME, passwords: PASSWORDS } = GUARD;
const { HERE, AOF, EMPTY_RDB, RDB_WITH_KEY, WITH_DATA, UNTOUCHED, sentinelSays, sentinel, allSentinels, spec } =
  GUARD_SCENE;

/** As the engines end at a configuration that they do not take (seen on Redis 7.0, 8.0, 8.6 and Valkey 8.1, 9.1). */
const refuseLines = (refusing: string) => `#!/bin/sh
line=$(grep -n -E '^(${refusing})' "$1" | head -n 1)
if [ -n "$line" ]; then
  printf '\\n*** FATAL CONFIG FILE ERROR ***\\nReading the configuration file, at line %s\\n' "\${line%%:*}" >&2
  printf ">>> '%s'\\nno such policy\\n" "\${line#*:}" >&2
  exit 1
fi
`;
const OF_LINES = refuseLines('foo|maxmemory-policy bogus|atoll-end');
const OF_NAMES = `${refuseLines('maxmemory-policy bogus')}
grep -E '^(foo|atoll-end)' "$1" | sed "s/.*/1:M 30 Nov 2026 # >>> '&'/"
`;

const NO_MASTER = 'OK\nERR No such master with that name\n\n';
const master = (ip: string) => `OK\nmaster\n100\nid=3 addr=10.0.0.10:5 laddr=${ip}:6379 fd=8 name= user=sentinel\n`;
const slaveOf = (ip: string, own = '10.0.0.99') =>
  `OK\nslave\n${ip}\n6379\nconnected\n100\nid=3 addr=10.0.0.10:5 laddr=${own}:6379 fd=8\n`;
const peer = (ordinal: number) => `${names.redis}-${ordinal}.${names.podsService}`;

describe('the startup guard', () => {
  it('starts a Standalone at once, empty or not', () => {
    expect(start({ spec: spec('Standalone') })).toMatchObject({ role: 'primary', replicaof: undefined, status: 0 });
  });

  it.each([
    ['answers', slaveOf(ME)],
    ['refuses the password', 'WRONGPASS invalid username-password pair\n\nNOAUTH Authentication required.\n\n'],
    ['is busy', 'OK\nBUSY Redis is busy running a script.\n\n'],
  ])('a Standalone beside which a second pod %s waits: its settings are of before the mode was raised', (_, answer) => {
    expect(start({ spec: spec('Standalone', false), answers: { [peer(1)]: answer } })).toMatchObject({
      role: 'waiting',
      replicaof: expect.stringContaining(WAITING_PRIMARY_HOST) as string,
      status: 0,
    });
  });

  it.each<[string, Scene, string, string | undefined]>([
    [
      'another primary, which answers → its replica',
      { spec: spec('Sentinel'), answers: { ...allSentinels(HERE[1]), '10.0.0.7': master('10.0.0.7') } },
      'replica',
      '10.0.0.7',
    ],
    [
      'another primary and data of my own → its replica all the same',
      {
        spec: spec('Sentinel'),
        disk: WITH_DATA,
        answers: { ...allSentinels(HERE[1]), '10.0.0.7': master('10.0.0.7') },
      },
      'replica',
      '10.0.0.7',
    ],
    [
      'I am the primary and have data → primary',
      { spec: spec('Sentinel'), disk: WITH_DATA, answers: allSentinels(HERE[0]) },
      'primary',
      undefined,
    ],
    [
      'two of three Sentinels are enough',
      { spec: spec('Sentinel'), disk: WITH_DATA, answers: { [sentinel(0)]: HERE[0], [sentinel(2)]: HERE[0] } },
      'primary',
      undefined,
    ],
    [
      'one Sentinel is not believed',
      { spec: spec('Sentinel'), disk: WITH_DATA, answers: { [sentinel(1)]: HERE[0] } },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'I am the primary but empty → not primary, or my replicas would be erased',
      { spec: spec('Sentinel'), answers: allSentinels(HERE[0]) },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'files of a server that never held a key are no data',
      { spec: spec('Sentinel'), disk: UNTOUCHED, answers: allSentinels(HERE[0]) },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'without persistence what lies on the disk is not current',
      { spec: spec('Sentinel', false), disk: WITH_DATA, answers: allSentinels(HERE[0]) },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a failover is on → wait',
      {
        spec: spec('Sentinel'),
        disk: WITH_DATA,
        answers: {
          ...allSentinels(HERE[0]),
          [sentinel(1)]: sentinelSays(ME, 's_down,o_down,master,failover_in_progress'),
        },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'one Sentinel alone sees me down: no failover → primary',
      {
        spec: spec('Sentinel'),
        disk: WITH_DATA,
        answers: { ...allSentinels(HERE[0]), [sentinel(1)]: sentinelSays(ME, 's_down,master,disconnected') },
      },
      'primary',
      undefined,
    ],
    [
      'empty, then failed over → replica of the new primary',
      {
        spec: spec('Sentinel'),
        answers: { ...allSentinels(HERE[0]), '10.0.0.7': master('10.0.0.7') },
        later: allSentinels(HERE[1]),
      },
      'replica',
      '10.0.0.7',
    ],
    [
      'the named primary is dead, then failed over → replica of the new one',
      {
        spec: spec('Sentinel'),
        answers: { ...allSentinels(sentinelSays('10.0.0.6')), '10.0.0.7': master('10.0.0.7') },
        later: allSentinels(HERE[1]),
      },
      'replica',
      '10.0.0.7',
    ],
    [
      'the named primary stays silent → its replica in the end',
      { spec: spec('Sentinel'), answers: allSentinels(HERE[1]) },
      'replica',
      '10.0.0.7',
    ],
    [
      'Sentinels that disagree name nobody',
      {
        spec: spec('Sentinel'),
        disk: WITH_DATA,
        answers: { [sentinel(0)]: HERE[0], [sentinel(1)]: HERE[1], [sentinel(2)]: sentinelSays('10.0.0.8') },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a new data set: nothing is monitored yet → wait for the agent',
      { spec: spec('Sentinel'), answers: allSentinels(NO_MASTER) },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a Sentinel that refuses the password is no answer',
      { spec: spec('Sentinel'), disk: WITH_DATA, answers: allSentinels('WRONGPASS invalid\nNOAUTH\n') },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
  ])('Sentinel: %s', (_, scene, role, replicaof) => {
    expect(start(scene)).toMatchObject({ role, replicaof, status: 0 });
  });

  it.each<[string, Scene, string, string | undefined]>([
    [
      'a peer is primary → its replica',
      { spec: spec('Replication'), answers: { [peer(1)]: master('10.0.0.11'), [peer(2)]: slaveOf('10.0.0.11') } },
      'replica',
      '10.0.0.11',
    ],
    [
      'a peer is primary, the other does not answer → its replica',
      { spec: spec('Replication'), disk: WITH_DATA, answers: { [peer(1)]: master('10.0.0.11') } },
      'replica',
      '10.0.0.11',
    ],
    [
      'a peer is primary, but the record names me and I have data: it may be a deposed one → wait',
      {
        spec: spec('Replication'),
        disk: WITH_DATA,
        recorded: `${names.redis}-0`,
        answers: { [peer(1)]: master('10.0.0.11'), [peer(2)]: slaveOf('10.0.0.11') },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a peer is primary, but another follows me, who am empty → wait: what follows me may be later',
      {
        spec: spec('Replication', false),
        answers: { [peer(1)]: master('10.0.0.11'), [peer(2)]: slaveOf(ME) },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a peer is primary, the record names me, but I am empty → its replica',
      { spec: spec('Replication'), recorded: `${names.redis}-0`, answers: { [peer(1)]: master('10.0.0.11') } },
      'replica',
      '10.0.0.11',
    ],
    [
      'a peer is primary and the record names it → its replica, whatever I hold',
      {
        spec: spec('Replication'),
        disk: WITH_DATA,
        recorded: `${names.redis}-1`,
        answers: { [peer(1)]: master('10.0.0.11') },
      },
      'replica',
      '10.0.0.11',
    ],
    [
      'every peer follows me and I have data → primary',
      { spec: spec('Replication'), disk: WITH_DATA, answers: { [peer(1)]: slaveOf(ME), [peer(2)]: slaveOf(ME) } },
      'primary',
      undefined,
    ],
    [
      'every peer follows me, but I am empty → wait',
      { spec: spec('Replication'), answers: { [peer(1)]: slaveOf(ME), [peer(2)]: slaveOf(ME) } },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'one peer does not answer: it may have been promoted → wait',
      { spec: spec('Replication'), disk: WITH_DATA, answers: { [peer(1)]: slaveOf(ME) } },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'a peer follows a third address → wait',
      {
        spec: spec('Replication'),
        disk: WITH_DATA,
        answers: { [peer(1)]: slaveOf(ME), [peer(2)]: slaveOf('10.0.0.8') },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'two peers are primary → wait',
      {
        spec: spec('Replication'),
        disk: WITH_DATA,
        answers: { [peer(1)]: master('10.0.0.11'), [peer(2)]: master('10.0.0.12') },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    [
      'all wait, as after a full outage → wait, whatever I hold',
      {
        spec: spec('Replication'),
        disk: WITH_DATA,
        answers: { [peer(1)]: slaveOf(WAITING_PRIMARY_HOST), [peer(2)]: slaveOf(WAITING_PRIMARY_HOST) },
      },
      'waiting',
      WAITING_PRIMARY_HOST,
    ],
    ['nobody answers → wait', { spec: spec('Replication'), disk: WITH_DATA }, 'waiting', WAITING_PRIMARY_HOST],
  ])('Replication: %s', (_, scene, role, replicaof) => {
    expect(start(scene)).toMatchObject({ role, replicaof, status: 0 });
  });
});

describe('what the guard makes of the disk', () => {
  it('makes a lone dump the base of the AOF, since an AOF server would start empty beside it', () => {
    const { appendonly, read } = start({ spec: spec('Standalone'), disk: { 'dump.rdb': RDB_WITH_KEY } });
    expect(appendonly).toBe('appendonly yes');
    expect(read(`data/${AOF}.manifest`)).toBe('file appendonly.aof.1.base.rdb seq 1 type b\n');
    expect(read(`data/${AOF}.1.base.rdb`)).toBe(RDB_WITH_KEY.toString('utf8'));
  });

  it('does the same beside an AOF that was never written to', () => {
    const { read } = start({ spec: spec('Standalone'), disk: { ...UNTOUCHED, 'dump.rdb': RDB_WITH_KEY } });
    expect(read(`data/${AOF}.1.base.rdb`)).toBe(RDB_WITH_KEY.toString('utf8'));
  });

  it('leaves an AOF with commands alone, whatever dump lies beside it', () => {
    const { read } = start({ spec: spec('Standalone'), disk: { ...WITH_DATA, 'dump.rdb': RDB_WITH_KEY } });
    expect(read(`data/${AOF}.1.base.rdb`)).toBe(EMPTY_RDB.toString('utf8'));
    expect(read(`data/${AOF}.1.incr.aof`)).toContain('SET');
  });

  it('loads an AOF although persistence is off, so that switching it off loses nothing at a restart', () => {
    expect(start({ spec: spec('Standalone', false), disk: WITH_DATA }).appendonly).toBe('appendonly yes');
    expect(start({ spec: spec('Standalone', false) }).appendonly).toBe('appendonly no');
  });

  it('takes a large dump for data without reading it', () => {
    const disk = { 'dump.rdb': Buffer.alloc(500, 1) };
    expect(start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]) }).role).toBe('primary');
  });
});

describe('memory in the guard', () => {
  it('takes the maxmemory that stands beside the limit, and after it what the user says', () => {
    const own = { ...spec('Standalone'), config: { maxmemory: '5mb' } };
    expect(start({ spec: spec('Standalone') }).conf.match(/^maxmemory .*/gm)).toEqual(['maxmemory 1024']);
    expect(start({ spec: own }).conf.match(/^maxmemory .*/gm)).toEqual(['maxmemory 1024', 'maxmemory 5mb']);
  });

  it('leaves out a maxmemory that was meant for a larger limit than this container has', () => {
    const declared = (maxmemory: string) => ({ ...spec('Standalone'), memory: { maxmemory } });
    expect(start({ spec: declared('1228') }).conf).toMatch(/^maxmemory 1228$/m);
    expect(start({ spec: declared('1300') }).conf.match(/^maxmemory .*/gm)).toEqual(['maxmemory 1024']);
  });
});

describe('credentials in the guard', () => {
  it('never tells a password in output, arguments or environment', () => {
    const { told, conf } = start({ spec: spec('Sentinel'), disk: WITH_DATA, answers: allSentinels(HERE[0]) });
    expect(told).toContain(`-h ${sentinel(0)} -p 26379`);
    for (const password of Object.values(PASSWORDS)) expect(told).not.toContain(password);
    expect(conf).toContain(`masterauth "${PASSWORDS.replication}"`);
  });

  it.each([
    ['Redis 7 and Valkey, which name a line', OF_LINES],
    ['Redis 8, which lists unknown names at the end', OF_NAMES],
  ])('leaves out of redis.conf what the server refuses: %s', (_, server) => {
    const config = { foo: 'bar', hz: '50', 'maxmemory-policy': 'bogus' };
    const { conf, told, role } = start({ spec: { ...spec('Standalone'), config }, server });
    expect(role).toBe('primary');
    expect(conf).not.toMatch(/^(foo|maxmemory-policy) |atoll-end/m);
    expect(conf).toContain('hz 50\n');
    expect(conf).toContain('appendfsync everysec\n');
    expect(told).toContain("left out 'maxmemory-policy bogus', which this server refuses: no such policy");
    expect(told).toMatch(/left out 'foo( bar)?', which this server refuses/);
  });

  it('writes hashes into the ACL file, both of them while a rotation is on', () => {
    const { read } = start({ spec: spec('Standalone'), secrets: { 'app.previous': 'canaryE5' } });
    const acl = read('run/users.acl');
    for (const password of Object.values(PASSWORDS)) expect(acl).not.toContain(password);
    expect(acl).toMatch(/^user default off /m);
    expect(acl.match(/^user (atoll|replication|sentinel|app) on #[0-9a-f]{64} /gm)).toHaveLength(4);
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(acl).toContain(`user app on #${hash(PASSWORDS.app)} #${hash('canaryE5')} `);
  });

  it('lets nobody in as default, but gives it the rights with which transactions in the AOF are replayed', () => {
    const acl = start({ spec: spec('Standalone') }).read('run/users.acl');
    expect(acl.match(/^user default .*/gm)).toEqual(['user default off resetpass allkeys allchannels +@all']);
  });

  it('does not start a server when a password is missing', () => {
    const { status, told, role } = start({ spec: spec('Standalone'), without: 'app' });
    expect(status).toBe(65);
    expect(role).toBe('');
    expect(told).toContain('no password for user app');
    expect(told).not.toContain('server ');
  });
});

describe('the entrypoint of a Sentinel', () => {
  it('starts with its fixed id and nothing to monitor', () => {
    const { read, told } = start({ spec: spec('Sentinel') }, 'start-sentinel.sh', `${names.sentinel}-1`);
    expect(read('run/sentinel.conf')).toMatch(/^sentinel myid [0-9a-f]{40}$/m);
    expect(read('run/sentinel.conf')).not.toContain('sentinel monitor');
    expect(told).toMatch(/server .*sentinel\.conf --sentinel/);
  });

  it('keeps its votes over a crash of the container, and renews address and password', () => {
    const before = [
      'port 26379',
      'sentinel myid 0000000000000000000000000000000000000000',
      'sentinel announce-ip "10.0.0.1"',
      'sentinel sentinel-pass "old"',
      `sentinel monitor ${names.masterName} 10.0.0.7 6379 2`,
      `sentinel auth-pass ${names.masterName} kept`,
      'sentinel current-epoch 7',
      '',
    ].join('\n');
    const scene = { spec: spec('Sentinel'), state: { 'sentinel.conf': before } };
    const conf = start(scene, 'start-sentinel.sh', `${names.sentinel}-1`).read('run/sentinel.conf');
    expect(conf).toContain('sentinel current-epoch 7');
    expect(conf).toContain(`sentinel monitor ${names.masterName} 10.0.0.7 6379 2`);
    expect(conf).not.toContain('kept');
    expect(conf).toContain(`sentinel auth-pass ${names.masterName} "${PASSWORDS.sentinel}"`);
    expect(conf.match(/sentinel myid .*/g)).toHaveLength(1);
    expect(conf).not.toContain('0000000000000000000000000000000000000000');
    expect(conf).toContain(`sentinel announce-ip ${ME}`);
    expect(conf).toContain(`sentinel sentinel-pass "${PASSWORDS.sentinel}"`);
    expect(conf).not.toContain('"old"');
  });
});

describe('files of a newer engine', () => {
  const serverOfVersion = (version: string) =>
    `#!/bin/sh\nif [ "$1" = --version ]; then echo "${version} sha=00000000:0 malloc=jemalloc-5.3.0"; else echo "server $*"; fi\n`;
  const newer = (format: string) => Buffer.concat([Buffer.from(format), Buffer.alloc(500, 1)]);
  const dump = (format: string) => ({
    'dump.rdb': newer(format),
    'appendonlydir/appendonly.aof.1.base.rdb': newer(format),
  });
  const manifest = { 'appendonlydir/appendonly.aof.manifest': 'file appendonly.aof.1.base.rdb seq 1 type b\n' };
  const startOn = (format: string, version: string, named = HERE[1]) =>
    start({
      spec: spec('Sentinel'),
      disk: { ...dump(format), ...manifest },
      answers: { ...allSentinels(named), '10.0.0.7': master('10.0.0.7') },
      server: serverOfVersion(version),
    });

  it.each([
    ['REDIS0012', 'Redis server v=7.0.15'],
    ['REDIS0012', 'Valkey server v=8.1.1'],
    ['REDIS0011', 'Redis server v=7.0.15'],
    ['VALKEY080', 'Redis server v=8.0.2'],
  ])('%s is set aside by a replica that runs %s, which gets another copy', (format, version) => {
    const { folder, role, status } = startOn(format, version);
    expect({ role, status }).toEqual({ role: 'replica', status: 0 });
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(['appendonlydir.newer', 'dump.rdb.newer']);
  });

  it.each([
    ['REDIS0010', 'Redis server v=7.0.15'],
    ['REDIS0011', 'Valkey server v=8.1.1'],
    ['REDIS0013', 'Redis server v=8.6.3'],
    ['REDIS0011', 'Redis server v=8.0.2'],
  ])('%s stays where %s reads it, or nobody knows', (format, version) => {
    const { folder } = startOn(format, version);
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(['appendonlydir', 'dump.rdb']);
  });

  it('stays where the primary that is named does not answer: it may be the last copy', () => {
    const { folder, role } = start({
      spec: spec('Sentinel'),
      disk: { ...dump('REDIS0012'), ...manifest },
      answers: allSentinels(HERE[1]),
      server: serverOfVersion('Redis server v=7.0.15'),
    });
    expect(role).toBe('replica');
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(['appendonlydir', 'dump.rdb']);
  });

  it('of one that may be primary stays, whatever it is', () => {
    const { folder, role } = startOn('REDIS0012', 'Redis server v=7.0.15', HERE[0]);
    expect(role).toBe('primary');
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(['appendonlydir', 'dump.rdb']);
  });
});

describe('a replica that has no copy yet', () => {
  const named = { ...allSentinels(HERE[1]), '10.0.0.7': master('10.0.0.7') };
  it.each<[string, Scene, boolean]>([
    ['persistent and empty', { spec: spec('Sentinel'), answers: named }, true],
    ['persistent, with data', { spec: spec('Sentinel'), disk: WITH_DATA, answers: named }, false],
    [
      'without persistence: a dead primary has nothing either',
      { spec: spec('Sentinel', false), answers: named },
      false,
    ],
    ['waiting for the creation', { spec: spec('Sentinel'), answers: allSentinels(NO_MASTER) }, false],
  ])('is no choice for Sentinel until it was linked: %s', (_, scene, held) => {
    const started = start(scene);
    expect(/^replica-priority 0$/m.test(started.conf)).toBe(held);
    expect(started.read('run/held').trim()).toBe(held ? 'yes' : '');
  });
});
