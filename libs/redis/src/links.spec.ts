import { afterEach, describe, expect, it } from 'vitest';
import { REDIS_CONTRACT, SENTINEL_CONTRACT, startFakeRedis, startFakeSentinel } from '#testing';
import type { FakeRedis } from '#testing';
import type { RedisCommand } from './assert-command-allowed.ts';
import { ForbiddenCommandError, assertCommandAllowed } from './assert-command-allowed.ts';
import type { ConnectionEnd, LinkOptions } from './link-options.ts';
import { RedisLink } from './redis-link.ts';
import { SentinelLink } from './sentinel-link.ts';
import { StandingConnection } from './standing-connection.ts';

const CANARY = 'canary-3f9d';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const optionsFor = (port: number, more: Partial<LinkOptions> = {}): LinkOptions => ({
  host: '127.0.0.1',
  port,
  credentials: () => undefined,
  // Long, so that a busy machine does not look like a silent server; a test of silence gives a short one.
  connectTimeoutMs: 5_000,
  commandTimeoutMs: 5_000,
  ...more,
});

const openLink = (port: number, more: Partial<LinkOptions> = {}): RedisLink => {
  const link = new RedisLink(optionsFor(port, more));
  cleanups.push(() => link.close());
  return link;
};

const fakeRedis = async (...args: Parameters<typeof startFakeRedis>): Promise<FakeRedis> => {
  const server = await startFakeRedis(...args);
  cleanups.push(() => server.stop());
  return server;
};

describe('the contract, on the scripted Redis', () => {
  it('holds, case after case on one server', async () => {
    const server = await fakeRedis();
    const link = openLink(server.port);
    for (const { name, run } of REDIS_CONTRACT) {
      await run(link).catch((error: unknown) => expect.fail(`${name}: ${String(error)}`));
    }
  });
});

describe('a link to a data pod', () => {
  it('probes in one round trip over one connection', async () => {
    const server = await fakeRedis();
    const link = openLink(server.port);
    await link.probe(['maxmemory']);
    await link.probe(['maxmemory']);
    expect(server.received.map(([name]) => name)).toEqual(['INFO', 'CONFIG', 'INFO', 'CONFIG']);
  });

  it.each([
    ['nobody listens', 'REFUSED', {}, false],
    ['the process is frozen', 'TIMEOUT', { frozen: true }, true],
    ['the password is another', 'AUTH', { user: { name: 'default', password: 'other' } }, true],
  ] as const)('when %s the facts say %s', async (_name, reason, state, listening) => {
    const server = await fakeRedis(state);
    if (!listening) await server.stop();
    const credentials = () => ({ username: 'default', password: CANARY });
    const link = openLink(server.port, { credentials, ...(reason === 'TIMEOUT' ? { commandTimeoutMs: 100 } : {}) });
    const facts = await link.probe();
    expect(facts).toMatchObject({ reachable: false, reason });
    expect(JSON.stringify(facts)).not.toContain(CANARY);
  });

  it('uses a rotated password from the next connection on', async () => {
    let password = 'old';
    const server = await fakeRedis({ user: { name: 'atoll', password: 'old' } });
    const link = openLink(server.port, { credentials: () => ({ username: 'atoll', password }) });
    expect((await link.probe()).reachable).toBe(true);
    server.state.user = { name: 'atoll', password: 'new' };
    server.dropConnections('FIN');
    await expect.poll(async () => (await link.probe()).reachable).toBe(false);
    password = 'new';
    expect((await link.probe()).reachable).toBe(true);
  });

  it.each(['FIN', 'RST'] as const)('tells that the other side ended the connection with %s', async (how) => {
    const ends: ConnectionEnd[] = [];
    const server = await fakeRedis();
    const link = openLink(server.port, { onEnd: (end) => ends.push(end) });
    await link.probe();
    server.dropConnections(how);
    await expect.poll(() => ends).toEqual([how]);
    expect((await link.probe()).reachable).toBe(true);
  });

  it('does not take its own closing, nor a frozen server, for an end by the other side', async () => {
    const ends: ConnectionEnd[] = [];
    const server = await fakeRedis();
    const link = openLink(server.port, { onEnd: (end) => ends.push(end), commandTimeoutMs: 100 });
    await link.probe();
    server.state.frozen = true;
    for (let round = 0; round < 4; round += 1) expect(await link.probe()).toMatchObject({ reason: 'TIMEOUT' });
    link.close();
    expect(ends.filter((end) => end !== 'SELF')).toEqual([]);
  });

  it('refuses to promote what is not empty, not waiting or still loading', async () => {
    const server = await fakeRedis({ role: 'slave', masterHost: '10.0.0.9', masterPort: 6379, keys: 3 });
    const link = openLink(server.port);
    const wanted = { expectRunId: server.state.runId, onlyIfEmpty: false, onlyIfWaiting: false };
    expect(await link.promote({ ...wanted, onlyIfEmpty: true })).toMatchObject({ code: 'NOT_EMPTY' });
    expect(await link.promote({ ...wanted, onlyIfWaiting: true })).toMatchObject({ code: 'NOT_WAITING' });
    server.state.loading = true;
    expect(await link.promote(wanted)).toMatchObject({ code: 'LOADING' });
    expect(server.state.role).toBe('slave');
  });
});

describe('a link to a Sentinel', () => {
  const request = {
    masterName: 'm-1',
    primaryHost: '10.0.0.1',
    primaryPort: 6379,
    quorum: 2,
    settings: { 'down-after-milliseconds': '5000' },
    auth: { username: 'atoll', password: CANARY },
  };
  const openSentinel = async () => {
    const server = await startFakeSentinel();
    const link = new SentinelLink(optionsFor(server.port));
    cleanups.push(
      () => link.close(),
      () => server.stop(),
    );
    return { server, link };
  };

  it('keeps the contract, case after case on one Sentinel', async () => {
    const { link } = await openSentinel();
    for (const { name, run } of SENTINEL_CONTRACT) {
      await run(link, ['10.0.0.1', '10.0.0.2']).catch((error: unknown) => expect.fail(`${name}: ${String(error)}`));
    }
  });

  it('monitors with settings and password at once, and again changes nothing', async () => {
    const { server, link } = await openSentinel();
    expect(await link.probe('m-1')).toMatchObject({ reachable: true, monitors: false });
    expect((await link.monitor(request)).outcome).toBe('DONE');
    const settings = { quorum: '2', 'down-after-milliseconds': '5000' };
    expect(await link.probe('m-1')).toMatchObject({ monitors: true, primaryHost: '10.0.0.1', settings });
    expect(server.state.masters.get('m-1')?.settings['auth-pass']).toBe(CANARY);
    await link.monitor(request);
    expect(server.received.filter(([, word]) => word === 'MONITOR')).toHaveLength(1);
  });

  it('moves to another address, but not during a failover', async () => {
    const { server, link } = await openSentinel();
    await link.monitor(request);
    const master = server.state.masters.get('m-1');
    if (master !== undefined) master.flags = 'master,failover_in_progress';
    const moved = { ...request, primaryHost: '10.0.0.2' };
    expect(await link.monitor(moved)).toMatchObject({ outcome: 'REFUSED', code: 'FAILOVER_IN_PROGRESS' });
    if (master !== undefined) master.flags = 'master,s_down';
    expect((await link.monitor(moved)).outcome).toBe('DONE');
    expect(server.state.masters.get('m-1')?.host).toBe('10.0.0.2');
  });

  it('forgets replicas only while it is settled on the address that was planned for', async () => {
    const { server, link } = await openSentinel();
    expect(await link.reset('m-1', '10.0.0.1')).toMatchObject({ outcome: 'REFUSED', code: 'NOT_MONITORED' });
    await link.monitor(request);
    server.state.replicaHosts = ['10.0.0.8', '10.0.0.9'];
    expect(await link.reset('m-1', '10.0.0.2')).toMatchObject({ outcome: 'REFUSED', code: 'NOT_SETTLED' });
    const master = server.state.masters.get('m-1');
    for (const flags of ['master,failover_in_progress', 'master,s_down', 'master,o_down']) {
      if (master !== undefined) master.flags = flags;
      expect((await link.reset('m-1', '10.0.0.1')).outcome).toBe('REFUSED');
    }
    expect(server.state.replicaHosts).toHaveLength(2);
    if (master !== undefined) master.flags = 'master';
    expect((await link.reset('m-1', '10.0.0.1')).outcome).toBe('DONE');
    expect(server.state.replicaHosts).toEqual([]);
  });

  it('says why it would refuse a failover, before and when it is told to', async () => {
    const { server, link } = await openSentinel();
    const expected = { host: '10.0.0.1', port: 6379 };
    expect(await link.mayFailOver('m-1', expected)).toMatchObject({ code: 'NOT_MONITORED' });
    await link.monitor(request);
    expect(await link.mayFailOver('m-1', { ...expected, host: '10.0.0.2' })).toMatchObject({ code: 'ANOTHER_PRIMARY' });
    expect((await link.mayFailOver('m-1', expected)).outcome).toBe('UNCHANGED');
    const answers = { INPROG: 'FAILOVER_IN_PROGRESS', NOGOODSLAVE: 'NO_GOOD_REPLICA', UNKNOWN: 'SERVER_REFUSED' };
    for (const [said, code] of Object.entries(answers)) {
      server.state.failoverAnswer = new Error(`${said} Some words of the server`);
      expect(await link.failOver('m-1', expected)).toMatchObject({ outcome: 'REFUSED', code });
    }
    server.state.failoverAnswer = 'OK';
    expect((await link.failOver('m-1', expected)).outcome).toBe('DONE');
    const master = server.state.masters.get('m-1');
    if (master !== undefined) master.flags = 'master,failover_in_progress';
    expect(await link.mayFailOver('m-1', expected)).toMatchObject({ code: 'FAILOVER_IN_PROGRESS' });
  });

  it('an error of the server does not carry the password', async () => {
    const { link } = await openSentinel();
    const outcome = await link.set('unknown', {}, request.auth);
    expect(outcome.outcome).toBe('REFUSED');
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
  });
});

describe('the gate of commands', () => {
  it.each([
    ['FAILOVER', 'TO', '10.0.0.1', '6379', 'TIMEOUT', '5000'],
    ['failover', 'abort'],
    ['SENTINEL', 'FAILOVER', 'm'],
    ['SENTINEL', 'DEBUG', 'info-period', '1000'],
  ] as const)('sends %s %s', (...command) => {
    expect(() => assertCommandAllowed(command as RedisCommand)).not.toThrow();
  });

  it.each([
    ['FLUSHALL'],
    ['flushdb'],
    ['CLUSTER', 'RESET', 'HARD'],
    ['DEBUG', 'SEGFAULT'],
    ['SHUTDOWN'],
    ['CONFIG', 'REWRITE'],
    ['FAILOVER'],
    ['FAILOVER', 'TO', '10.0.0.1', '6379'],
    ['FAILOVER', 'TO', '10.0.0.1', '6379', 'FORCE', 'TIMEOUT', '5000'],
    ['FAILOVER', 'TO', '10.0.0.1', '6379', 'TIMEOUT', '0'],
    ['FAILOVER', 'ABORT', 'NOW'],
    ['SENTINEL', 'DEBUG', 'PING-PERIOD', '1'],
    ['SENTINEL', 'RESET', '*'],
    ['SENTINEL', 'RESET'],
    ['SENTINEL', 'RESET', 'a[bc]'],
    ['ACL', 'LOAD'],
    ['__proto__'],
    ['constructor'],
    ['SET', 'k', 'v'],
  ] as const)('never sends %s %s', async (...command) => {
    expect(() => assertCommandAllowed(command as RedisCommand)).toThrow(ForbiddenCommandError);
    const server = await fakeRedis();
    const connection = new StandingConnection(optionsFor(server.port));
    await expect(connection.run([['PING'], command as RedisCommand])).rejects.toThrow(ForbiddenCommandError);
    expect(server.received).toEqual([]);
    connection.close();
  });
});
