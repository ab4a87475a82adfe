import { afterEach, describe, expect, it } from 'vitest';
import { RedisLink, useTestProxy, type ConnectionEnd } from '#redis';
import { startFakeRedis } from './fake-redis.ts';
import { findForbidden } from './find-forbidden.ts';
import { CommandReader } from './command-reader.ts';
import { NOT_CONNECTED, RecordingProxy, type RecordedCommand } from './recording-proxy.ts';
import { redactCommand } from './redact-command.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  useTestProxy(undefined);
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const startProxy = async (): Promise<RecordingProxy> => {
  const proxy = await RecordingProxy.start();
  cleanups.push(() => proxy.stop());
  useTestProxy({ host: '127.0.0.1', port: proxy.port });
  return proxy;
};

const openLink = (port: number, onEnd?: (end: ConnectionEnd) => void): RedisLink => {
  const link = new RedisLink({
    host: '127.0.0.1',
    port,
    credentials: () => ({ username: 'atoll', password: 'canary-77' }),
    ...(onEnd && { onEnd }),
  });
  cleanups.push(() => link.close());
  return link;
};

const sent = (...words: string[]): RecordedCommand => ({ target: '10.0.0.1:6379', words, atMs: 1_000 });

describe('the recording proxy', () => {
  it('lets the agent speak through it, and records what was said without the password', async () => {
    const server = await startFakeRedis({ user: { name: 'atoll', password: 'canary-77' } });
    cleanups.push(() => server.stop());
    const proxy = await startProxy();
    expect((await openLink(server.port).probe(['maxmemory'])).reachable).toBe(true);
    expect(proxy.commands.map(({ words }) => words.slice(0, 2).join(' '))).toEqual([
      'AUTH atoll',
      'INFO server',
      'CONFIG GET',
    ]);
    expect(proxy.commands[0]?.target).toBe(`127.0.0.1:${server.port}`);
    expect(JSON.stringify(proxy.commands)).not.toContain('canary-77');
  });

  it('refuses as the server itself refuses', async () => {
    const server = await startFakeRedis();
    await server.stop();
    const proxy = await startProxy();
    expect(await openLink(server.port).probe()).toMatchObject({ reachable: false, reason: 'REFUSED' });
    expect(proxy.commands.map(({ words }) => words)).toEqual([[NOT_CONNECTED, 'ECONNREFUSED']]);
  });

  it.each(['FIN', 'RST'] as const)('passes on that the server ended the connection with %s', async (how) => {
    const server = await startFakeRedis({ user: { name: 'atoll', password: 'canary-77' } });
    cleanups.push(() => server.stop());
    await startProxy();
    const ends: ConnectionEnd[] = [];
    await openLink(server.port, (end) => ends.push(end)).probe();
    server.dropConnections(how);
    await expect.poll(() => ends).toEqual([how]);
  });

  it('reads commands in whatever pieces they come', () => {
    const stream = Buffer.from(
      '*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\n',
    );
    for (let size = 1; size <= stream.length; size += 1) {
      const commands: string[][] = [];
      const reader = new CommandReader((words) => commands.push(words));
      for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
      expect(commands).toEqual([['INFO', 'server'], ['PING'], ['SET', 'k', '\r\n']]);
    }
  });
});

describe('what is left out of a record', () => {
  it.each([
    [['auth', 'atoll', 'secret'], 'AUTH atoll ***'],
    [['hello', '2', 'AUTH', 'atoll', 'secret'], 'HELLO 2 AUTH atoll ***'],
    [['acl', 'setuser', 'app', 'on', '>secret', '#0a0b', '~*'], 'ACL SETUSER app on *** *** ~*'],
    [['config', 'set', 'masterauth', 'secret', 'maxmemory', '1'], 'CONFIG SET masterauth *** maxmemory 1'],
    [
      ['sentinel', 'set', 'm', 'auth-user', 'sentinel', 'auth-pass', 'secret'],
      'SENTINEL SET m auth-user sentinel auth-pass ***',
    ],
  ])('%j', (words, expected) => {
    expect(redactCommand(words).join(' ')).toBe(expected);
  });
});

describe('forbidden commands', () => {
  it.each([
    [['FLUSHALL', 'ASYNC']],
    [['CLUSTER', 'RESET', 'HARD']],
    [['SHUTDOWN', 'NOSAVE']],
    [['DEBUG', 'SLEEP', '1']],
    [['REPLICAOF', '127.255.255.254', '1']],
    [['SENTINEL', 'RESET', '*']],
    [['SENTINEL', 'FAILOVER', 'm']],
    [['FAILOVER', 'TO', '10.0.0.2', '6379', 'FORCE', 'TIMEOUT', '1']],
    [['SET', 'k', 'v']],
  ])('%j is found', (words) => {
    expect(findForbidden([sent(...words)])).toHaveLength(1);
  });

  it('a failover on proof of death, and one with writes paused, are no crime', () => {
    const failover = sent('SENTINEL', 'FAILOVER', 'm');
    expect(findForbidden([sent(NOT_CONNECTED, 'ECONNREFUSED'), failover])).toEqual([]);
    expect(findForbidden([sent('CLIENT', 'PAUSE', '5000', 'WRITE'), failover])).toEqual([]);
    expect(findForbidden([sent(NOT_CONNECTED, 'ETIMEDOUT'), failover])).toHaveLength(1);
  });

  it('what the operator does all day is no crime', () => {
    const daily = [sent('INFO', 'server'), sent('REPLICAOF', '10.0.0.2', '6379'), sent('REPLICAOF', 'NO', 'ONE')];
    expect(findForbidden(daily)).toEqual([]);
  });
});
