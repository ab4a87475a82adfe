import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUARD, GUARD_SCENE, startGuard as start, type GuardRun } from '#testing';

/** The real scripts on a disk of their own, see startGuard. */
const { names } = GUARD;
const { HERE, RDB_WITH_KEY, WITH_DATA, UNTOUCHED, allSentinels, spec } = GUARD_SCENE;

describe('a pod that comes back to a volume of an earlier membership', () => {
  const returning = { '0': 1764640000, '3': 1764640001 };
  const asides = ({ folder }: GuardRun): readonly string[] =>
    readdirSync(join(folder, 'data')).filter((name) => name.startsWith('left-behind.'));

  it('sets the old files aside before anything looks at them: it is empty, and waits where it would have been primary', () => {
    const disk = { ...WITH_DATA, 'dump.rdb': RDB_WITH_KEY, 'set-aside-x.rdb': 'kept' };
    const started = start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]), returning });
    expect(started).toMatchObject({ role: 'waiting', status: 0 });
    expect(asides(started)).toEqual(['left-behind.1764640000']);
    expect(readdirSync(join(started.folder, 'data/left-behind.1764640000')).sort()).toEqual([
      'appendonlydir',
      'dump.rdb',
    ]);
    expect(started.read('data/left-behind.1764640000/appendonlydir/appendonly.aof.1.incr.aof')).toContain('SET');
    expect(started.read('data/returned')).toBe('1764640000\n');
    expect(started.read('data/set-aside-x.rdb')).toBe('kept');
    expect(started.conf).toMatch(/^replica-priority 0$/m);
    expect(started.read('run/held')).toBe('yes\n');
  });

  it('once for each return: what it has copied since is its data', () => {
    const disk = { ...WITH_DATA, returned: '1764640000\n' };
    const started = start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]), returning });
    expect(started).toMatchObject({ role: 'primary', status: 0 });
    expect(asides(started)).toEqual([]);
    expect(started.conf).not.toMatch(/replica-priority/);
    const earlier = { ...WITH_DATA, returned: '1764000000\n' };
    const again = start({ spec: spec('Sentinel'), disk: earlier, answers: allSentinels(HERE[0]), returning });
    expect(again).toMatchObject({ role: 'waiting' });
    expect(asides(again)).toEqual(['left-behind.1764640000']);
  });

  it('not by a note of before its last return, as in an old text of the settings; but nobody chooses it before it was linked', () => {
    const disk = { ...WITH_DATA, returned: '1764640007\n' };
    const named = start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]), returning });
    expect(named).toMatchObject({ role: 'primary', status: 0 });
    expect(asides(named)).toEqual([]);
    const follows = { ...allSentinels(HERE[1]), '10.0.0.7': 'OK\nmaster\n100\n' };
    const replica = start({ spec: spec('Sentinel'), disk, answers: follows, returning });
    expect(replica).toMatchObject({ role: 'replica', status: 0 });
    expect(asides(replica)).toEqual([]);
    expect(replica.conf).toMatch(/^replica-priority 0$/m);
  });

  it('goes on where a start was cut off in the middle', () => {
    const disk = { ...WITH_DATA, 'left-behind.1764640000/dump.rdb': RDB_WITH_KEY };
    const started = start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]), returning });
    expect(readdirSync(join(started.folder, 'data/left-behind.1764640000')).sort()).toEqual([
      'appendonlydir',
      'dump.rdb',
    ]);
    expect(started).toMatchObject({ role: 'waiting', status: 0 });
  });

  it('leaves a member alone, and one whose number only ends alike', () => {
    const others = { '1': 1764640000, '10': 1764640000 };
    const started = start({
      spec: spec('Sentinel'),
      disk: WITH_DATA,
      answers: allSentinels(HERE[0]),
      returning: others,
    });
    expect(started).toMatchObject({ role: 'primary', status: 0 });
    expect(asides(started)).toEqual([]);
    expect(started.conf).not.toMatch(/replica-priority/);
  });

  it('of a Standalone, or of whom the record names, stays: nobody has another copy', () => {
    const alone = start({ spec: spec('Standalone'), disk: WITH_DATA, returning });
    expect(alone).toMatchObject({ role: 'primary', status: 0 });
    expect(asides(alone)).toEqual([]);
    const named = start({ spec: spec('Replication'), disk: WITH_DATA, returning, recorded: `${names.redis}-0` });
    expect(named.read('data/appendonlydir/appendonly.aof.1.incr.aof')).toContain('SET');
    expect(asides(named)).toEqual([]);
  });

  it.each([
    ['with keys: they alone are kept', WITH_DATA, ['left-behind.1764640000']],
    ['without a key: the earlier ones stay', UNTOUCHED, ['left-behind.1764000000', 'left-behind.1764640000']],
    ['not there: the earlier ones stay', {}, ['left-behind.1764000000']],
  ])('a second time, its files %s', (_, files, kept) => {
    const disk = { ...files, returned: '1764000000\n', 'left-behind.1764000000/dump.rdb': RDB_WITH_KEY };
    const started = start({ spec: spec('Sentinel'), disk, answers: allSentinels(HERE[0]), returning });
    expect([...asides(started)].sort()).toEqual(kept);
    expect(started.status).toBe(0);
  });

  describe('where that leaves little room on the volume', () => {
    /** 512 KiB and more lie there. */
    const disk = { 'dump.rdb': Buffer.concat([RDB_WITH_KEY, randomBytes(524_288)]) };
    const peer = `${names.redis}-1.${names.podsService}`;
    /** A volume of so many KiB, of which so many are free, and many more from the given call on. */
    const df = (sizeKib: number, freeKib: number, roomFromCall = 1_000): string => `#!/bin/sh
echo >> "$FAKE/df-calls"
free=${freeKib}
if [ "$(wc -l < "$FAKE/df-calls")" -ge ${roomFromCall} ]; then free=${sizeKib}; fi
echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'
echo "/dev/sdz ${sizeKib} 1 $free 1% /data"
`;
    const come = (program: string, more: Partial<Parameters<typeof start>[0]> = {}): GuardRun =>
      start({
        spec: spec('Sentinel'),
        disk,
        answers: allSentinels(HERE[1]),
        returning,
        programs: { df: program },
        ...more,
      });
    const NOT_DONE = { role: '', status: 67 } as const;

    it('it ends with words that Kubernetes keeps, and removes nothing', () => {
      const ended = come(df(4_000, 500));
      expect(ended).toMatchObject(NOT_DONE);
      expect(ended.read('last-words')).toMatch(
        /^atoll-no-room folder=\S+\/data\/left-behind\.1764640000 bytes=\d{6} free=512000 needed=\d{7}\n$/,
      );
      expect(asides(ended)).toEqual(['left-behind.1764640000']);
      expect(ended.read('data/returned')).toBe('');
    });

    it('started again it waits with an open port for the room, and goes on by itself', () => {
      const state = { 'no-room': '' };
      const waited = come(df(4_000, 500, 6), { state });
      expect(waited).toMatchObject({ role: 'replica', status: 0 });
      expect(waited.told).toMatch(/no room for a copy: [^]*there is room for a copy now/);
      expect(waited.read('last-words').trim()).toBe('');
      expect(asides(waited)).toEqual(['left-behind.1764640000']);
      expect(waited.read('data/returned')).toBe('1764640000\n');
      expect(waited.read('run/no-room')).toBe('');
    });

    it('it needs as much as the fullest peer holds, twice, or once where nothing is kept', () => {
      const peerHolds = (bytes: number) => ({
        answers: { ...allSentinels(HERE[1]), [peer]: `OK\nused_memory:1\r\nused_memory_dataset:${bytes}\r\n` },
      });
      expect(come(df(4_000, 1_000), peerHolds(409_000)).status).toBe(0);
      expect(come(df(4_000, 1_000), peerHolds(410_000)).status).toBe(67);
      const kept = { ...peerHolds(819_000), spec: spec('Sentinel', false) };
      expect(come(df(4_000, 1_000), kept).status).toBe(0);
      expect(come(df(4_000, 1_000), { ...kept, ...peerHolds(820_000) }).status).toBe(67);
    });

    it.each([
      ['it is not what the room is wanting for', df(4_000_000, 0)],
      ['nothing tells how full the volume is', '#!/bin/sh\nexit 1\n'],
    ])('it starts all the same: %s', (_, program) => {
      const started = come(program);
      expect(started.status).toBe(0);
      expect(started.read('bin/questions')).not.toMatch(/INFO memory/);
    });

    it('a member is not judged; its words tell of a full volume in case it ends', () => {
      const full = come(df(4_000, 1_100), { returning: {} });
      expect(full).toMatchObject({ role: 'replica', status: 0 });
      expect(full.read('last-words')).toBe('atoll-volume-full\n');
      expect(come(df(4_000, 1_110), { returning: {} }).read('last-words')).toBe('');
    });
  });

  describe('its readiness probe', () => {
    const linked = (keys: number): string => `OK\nslave\n10.0.0.7\n6379\nconnected\n100\n${keys}\n`;
    const probe = (answer: string): GuardRun =>
      start(
        {
          spec: spec('Sentinel'),
          state: { held: 'yes\n' },
          disk: { ...WITH_DATA, 'left-behind.1764640000/dump.rdb': RDB_WITH_KEY },
          answers: { '127.0.0.1': answer },
        },
        'probe-redis.sh',
        undefined,
        ['readiness'],
      );

    it('lets Sentinel choose it once it holds a copy; what was set aside stays: the copy may be of an empty start', () => {
      const probed = probe(linked(3));
      expect(asides(probed)).toEqual(['left-behind.1764640000']);
      expect(probed.read('run/held').trim()).toBe('');
      expect(probed.read('bin/questions')).toMatch(/CONFIG SET replica-priority 100/);
      expect(probed.read('data/appendonlydir/appendonly.aof.manifest')).not.toBe('');
    });

    it('tells in the process title what lies aside, until it is gone', () => {
      expect(probe(linked(3)).read('bin/questions')).toMatch(
        /CONFIG SET proc-title-template "\{title\} \{listen-addr\} \{server-mode\} left=1764640000:\d{4,6}"/,
      );
      const look = (state: Readonly<Record<string, string>>, enabled = true): string =>
        start(
          { spec: spec('Sentinel', enabled), state, answers: { '127.0.0.1': linked(3) } },
          'probe-redis.sh',
          undefined,
          ['readiness'],
        ).read('bin/questions');
      expect(look({})).not.toMatch(/proc-title-template/);
      expect(look({ title: ' left=1:2' })).toMatch(/proc-title-template "\{title\} \{listen-addr\} \{server-mode\}"/);
      expect(look({}, false)).toMatch(/\{server-mode\} aof=keep"/);
    });

    it('that is refused counts as the last one that was answered: the password is wrong, not the server', () => {
      const look = (state: Readonly<Record<string, string>>, answer: string): GuardRun =>
        start({ spec: spec('Sentinel'), state, answers: { '127.0.0.1': answer } }, 'probe-redis.sh', undefined, [
          'readiness',
        ]);
      const refused =
        'WRONGPASS invalid username-password pair or user is disabled.\nNOAUTH Authentication required.\n';
      const served = look({}, 'OK\nPONG\nmaster\n100\n\n');
      expect([served.status, served.read('run/ready')]).toEqual([0, 'yes']);
      expect(look({ ready: 'yes' }, refused).status).toBe(0);
      expect(look({ ready: 'no' }, refused).status).toBe(1);
      expect(look({}, refused).status).toBe(1);
      const silent = look({ ready: 'yes' }, '');
      expect([silent.status, silent.read('run/ready')]).toEqual([1, 'no']);
    });

    it.each([
      ['a copy without a key', linked(0)],
      ['no link', 'OK\nslave\n10.0.0.7\n6379\nconnecting\n-1\n3\n'],
      ['a primary', 'OK\nmaster\n100\n\n3\n'],
      ['no answer', ''],
    ])('keeps what was set aside: %s', (_, answer) => {
      expect(asides(probe(answer))).toEqual(['left-behind.1764640000']);
    });
  });
});
