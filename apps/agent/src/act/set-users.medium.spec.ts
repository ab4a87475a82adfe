/** Users of real servers: what is set is read back as wanted, what is changed by hand is seen, and nobody is cut off. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { HELLO_CHANNEL, type RedisClusterObject } from '#domain';
import { RedisLink } from '#redis';
import { claimPort } from '#testing';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';
import { aclExpectation } from '../acl-expectation.ts';

const HOST = '127.0.0.1';
const running: ChildProcess[] = [];
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

const VALUES = { atoll: 'pw-atoll', replication: 'pw-repl', sentinel: 'pw-sentinel', app: 'pw-app' };

const resource = (users: readonly { readonly name: string; readonly rules: string }[]): RedisClusterObject =>
  ({
    metadata: { name: 'x', namespace: 'y' },
    spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone', auth: { users } },
  }) as unknown as RedisClusterObject;

const start = async (command: readonly string[], lines: readonly string[] = []) => {
  const folder = mkdtempSync(join(tmpdir(), 'set-users-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  const port = await claimPort();
  const acl = join(folder, 'users.acl');
  writeFileSync(acl, `user default off\nuser atoll on >${VALUES.atoll} ~* &* +@all\n`);
  const file = join(folder, 'redis.conf');
  writeFileSync(
    file,
    [`port ${port}`, `dir ${folder}`, 'save ""', `aclfile ${acl}`, 'masterauth pw-repl', ...lines, ''].join('\n'),
  );
  const [program = '', ...words] = command;
  running.push(spawn(program, [...words, file], { stdio: 'ignore' }));
  const link = new RedisLink({ host: HOST, port, credentials: () => ({ username: 'atoll', password: VALUES.atoll }) });
  endings.push(() => link.close());
  const deadline = performance.now() + 10_000;
  while (!(await link.probe()).reachable) {
    if (performance.now() > deadline) throw new Error('the server does not start');
    await sleep(20);
  }
  return { link, port, acl };
};

const connect = async (port: number, username: string, password: string): Promise<Redis> => {
  const redis = new Redis({ host: HOST, port, username, password, lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  endings.push(() => redis.disconnect());
  await redis.connect();
  return redis;
};

const usersOf = async (link: RedisLink, expectation: Parameters<RedisLink['readAcl']>[0]) =>
  (await link.readAcl(expectation, false))?.users ?? {};

const isSettled = (name: string, user: Awaited<ReturnType<typeof usersOf>>[string]): boolean =>
  user.rulesAsWanted && !user.acceptsOthers && (name === 'default' || user.acceptsCurrent);

const CHANNELS = fc.oneof(
  fc.nat(HELLO_CHANNEL.length).map((length) => HELLO_CHANNEL.slice(0, length)),
  fc.tuple(fc.nat(HELLO_CHANNEL.length), fc.string()).map(([length, end]) => HELLO_CHANNEL.slice(0, length) + end),
  fc.string(),
);

describe.each(['redis:7.0', 'redis:8.0', 'valkey:8.1'] as const)('users of %s', (engine) => {
  it('publish to every channel but the one of the Sentinels, which has the Sentinels alone', async () => {
    const programs = await ensureEnginePrograms(engine);
    if ('unavailable' in programs) throw new Error(programs.reason);
    const { link, port } = await start(programs('redis-server'), ['acl-pubsub-default allchannels']);
    const values = { ...VALUES, 'user.cache': 'pw-cache', 'user.quiet': 'pw-quiet', 'user.old': 'pw-old' };
    const wanted = resource([
      { name: 'cache', rules: '~* &* +@all -@admin (~a +@pubsub allchannels)' },
      { name: 'quiet', rules: '~* +publish' },
      // Refused today. A data set of before may hold it.
      { name: 'old', rules: '~* &__s* +publish' },
    ]);
    const expectation = aclExpectation(wanted, 'redis', values);
    const names = Object.keys(expectation.users);
    expect(await link.setUsers(expectation, names, [])).toEqual({ outcome: 'DONE' });
    const seen = await usersOf(link, expectation);
    expect(names.filter((name) => seen[name] === undefined || !isSettled(name, seen[name]))).toEqual([]);

    const publishes = async (user: string, channel: string): Promise<boolean> =>
      (await clients[user]?.publish(channel, 'x').then(
        () => true,
        (error: Error) => {
          if (!/NOPERM/.test(error.message)) throw error;
          return false;
        },
      )) ?? false;
    const logins = { app: 'pw-app', cache: 'pw-cache', quiet: 'pw-quiet', old: 'pw-old', sentinel: 'pw-sentinel' };
    const clients: Record<string, Redis> = {};
    for (const [user, password] of Object.entries(logins)) clients[user] = await connect(port, user, password);
    const reach: Record<string, boolean> = {};
    for (const user of Object.keys(logins)) reach[user] = await publishes(user, HELLO_CHANNEL);
    expect(reach).toEqual({ app: false, cache: false, quiet: false, old: false, sentinel: true });
    const script = `return redis.pcall('PUBLISH', '${HELLO_CHANNEL}', 'x')`;
    await expect(clients['app']?.eval(script, 0)).rejects.toThrow(/permission|NOPERM|can't/i);
    expect([await publishes('sentinel', 'news'), await publishes('quiet', 'news')]).toEqual([false, false]);
    await clients['app']?.psubscribe('*');
    clients['app']?.disconnect();
    clients['app'] = await connect(port, 'app', 'pw-app');
    await fc.assert(
      fc.asyncProperty(
        CHANNELS.filter((channel) => channel !== HELLO_CHANNEL && channel !== ''),
        async (channel) => {
          expect([await publishes('app', channel), await publishes('cache', channel)]).toEqual([true, true]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are set, compared with what the server made of them, and set back', async () => {
    const programs = await ensureEnginePrograms(engine);
    if ('unavailable' in programs) throw new Error(programs.reason);
    const { link, port, acl } = await start(programs('redis-server'));
    const values: Record<string, string> = { ...VALUES, 'user.cache': 'pw-cache', 'user.bad': 'pw-bad' };
    const wanted = resource([
      { name: 'cache', rules: '~cache:* +@read (%W~log:* +append)' },
      { name: 'bad', rules: '~* +no-such-command' },
    ]);
    const expectation = aclExpectation(wanted, 'redis', values);
    const unsettled = async (): Promise<string[]> => {
      const users = await usersOf(link, expectation);
      return Object.entries(users).flatMap(([name, user]) => (isSettled(name, user) ? [] : [name]));
    };
    expect((await unsettled()).length).toBe(7);
    expect(await link.setUsers(expectation, Object.keys(expectation.users), [])).toEqual({ outcome: 'DONE' });
    expect(await unsettled()).toEqual(['bad']);
    const seen = await link.readAcl(expectation, true);
    expect(seen).toMatchObject({
      peerLoginCurrent: true,
      users: { bad: { refused: true }, atoll: { connections: 1, oldest: [{ address: '127.0.0.1' }] } },
    });
    expect(JSON.stringify(seen)).not.toMatch(/pw-|[0-9a-f]{64}/);
    expect(readFileSync(acl, 'utf8')).toContain('user cache on');

    const client = await connect(port, 'cache', 'pw-cache');
    const during = { ...values, 'user.cache.next': 'pw-cache-2', 'user.cache.previous': 'pw-cache-0' };
    const rotating = aclExpectation(wanted, 'redis', during);
    await link.setUsers(rotating, ['cache'], []);
    expect((await usersOf(link, rotating))['cache']).toMatchObject({
      acceptsCurrent: true,
      acceptsNext: true,
      acceptsPrevious: true,
      acceptsOthers: false,
    });
    for (const password of ['pw-cache-0', 'pw-cache', 'pw-cache-2']) {
      expect(await (await connect(port, 'cache', password)).get('cache:1')).toBeNull();
    }
    const rotated = aclExpectation(wanted, 'redis', { ...values, 'user.cache': 'pw-cache-2' });
    await link.setUsers(rotated, ['cache'], []);
    expect(await client.get('cache:1')).toBeNull();
    await expect(connect(port, 'cache', 'pw-cache')).rejects.toThrow();
    expect((await usersOf(link, rotated))['cache']).toMatchObject({
      acceptsCurrent: true,
      acceptsOthers: false,
    });

    const admin = await connect(port, 'atoll', VALUES.atoll);
    await admin.call('ACL', 'SETUSER', 'app', '>by-hand', '+@admin');
    await admin.call('ACL', 'SETUSER', 'default', 'on', 'nopass');
    await admin.call('CONFIG', 'SET', 'masterauth', 'other');
    expect(await unsettled()).toEqual(['default', 'app', 'cache', 'bad']);
    expect((await link.readAcl(expectation, false))?.peerLoginCurrent).toBe(false);
    await link.setUsers(expectation, ['default', 'app', 'cache'], ['bad']);
    await link.setReplicationLogin({ username: 'replication', password: 'pw-repl' });
    expect(await unsettled()).toEqual(['bad']);
    expect((await link.readAcl(expectation, false))?.peerLoginCurrent).toBe(true);

    const without = aclExpectation(resource([]), 'redis', values);
    expect(Object.keys(await usersOf(link, without))).toContain('cache');
    await link.setUsers(without, [], ['cache']);
    expect(Object.keys(await usersOf(link, without))).not.toContain('cache');
  });
});
