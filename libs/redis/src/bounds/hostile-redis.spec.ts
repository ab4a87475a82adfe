/** A tenant may run any image: none of its answers takes more of the agent than a bound, or proves a death. */
import { afterEach, describe, expect, it } from 'vitest';
import { HOSTILE_ANSWERS, startFakeRedis, startHostileRedis, type HostileAnswer, type HostileRedis } from '#testing';
import type { ConnectionEnd } from '../link-options.ts';
import { RedisLink } from '../redis-link.ts';
import { SentinelLink } from '../sentinel-link.ts';
import { MAX_BYTES_TOGETHER, replyBudget } from './reply-budget.ts';
import { MAX_REPLY_BYTES } from './reply-meter.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const start = async (answer: HostileAnswer, options?: { readonly login: boolean }): Promise<HostileRedis> => {
  const server = await startHostileRedis(answer, options);
  cleanups.push(() => server.stop());
  return server;
};
const linksTo = (port: number, ends: ConnectionEnd[], commandTimeoutMs = 30_000) => {
  const options = {
    host: '127.0.0.1',
    port,
    credentials: () => ({ username: 'atoll', password: 'secret' }),
    connectTimeoutMs: 5_000,
    commandTimeoutMs,
    onEnd: (end: ConnectionEnd) => void ends.push(end),
  };
  const redis = new RedisLink(options);
  const sentinel = new SentinelLink({ ...options, channels: ['+switch-master'], onMessage: () => undefined });
  cleanups.push(
    () => redis.close(),
    () => sentinel.close(),
  );
  return { redis, sentinel };
};

/** Its first reply is one to our first command. */
const UNASKED = 'replies that nobody asked for';
const ANSWERS = Object.keys(HOSTILE_ANSWERS) as HostileAnswer[];
/** What the kernel of both sides holds of a loopback connection, besides what was read. */
const KERNEL_BYTES = 16 * 1024 * 1024;

describe.each(ANSWERS.filter((answer) => answer !== UNASKED))('a server that answers with %s', (answer) => {
  it.each(['redis', 'sentinel'] as const)('is unreachable as %s, and holds no memory', async (component) => {
    const server = await start(answer);
    const ends: ConnectionEnd[] = [];
    // A byte a moment comes 20 times within a second: the deadline is for the whole answer.
    const isSilent = /^(a byte|nothing)/.test(answer);
    const links = linksTo(server.port, ends, isSilent ? 1_000 : undefined);
    for (let look = 0; look < 3; look += 1) {
      const facts = component === 'redis' ? await links.redis.probe() : await links.sentinel.probe('orders');
      expect(facts.reachable).toBe(false);
      if (isSilent) expect(facts).toMatchObject({ reason: 'TIMEOUT' });
    }
    expect(server.sentBytes).toBeLessThan(KERNEL_BYTES);
    expect(replyBudget.heldBytes).toBeLessThan(MAX_BYTES_TOGETHER);
    // Neither is evidence of an exit: those begin a failover.
    expect(ends.filter((end) => end === 'FIN' || end === 'RST')).toEqual([]);
  });
});

describe('a server that replies without a command', () => {
  it('is cut off each time, and holds no memory', async () => {
    const server = await start(UNASKED);
    const { redis } = linksTo(server.port, []);
    for (let look = 0; look < 10; look += 1) {
      await redis.probe();
      expect(replyBudget.heldBytes).toBeLessThan(MAX_REPLY_BYTES);
    }
    expect(server.sentBytes).toBeLessThan(KERNEL_BYTES);
  });
});

describe('a server whose answers are too large', () => {
  it('is named so, and left alone for a while', async () => {
    const server = await start('a text of a terabyte');
    const { redis } = linksTo(server.port, []);
    const looks = [await redis.probe(), await redis.probe(), await redis.probe()];
    expect(looks.map((facts) => !facts.reachable && facts.reason)).toEqual(['TOO_LARGE', 'TOO_LARGE', 'TOO_LARGE']);
    expect(server.connections).toBe(1);
  });

  it('gets 64 KiB before the login', async () => {
    const server = await start('a line that never ends', { login: false });
    const { redis } = linksTo(server.port, []);
    expect(await redis.probe()).toMatchObject({ reachable: false, reason: 'TOO_LARGE' });
  });

  it('is refused at a scrape as at a look', async () => {
    const server = await start('a line that never ends');
    const { redis, sentinel } = linksTo(server.port, []);
    await expect(redis.readMetrics(1)).rejects.toMatchObject({ reason: 'TOO_LARGE' });
    await expect(sentinel.readMetrics('orders', 1)).rejects.toMatchObject({ reason: 'TOO_LARGE' });
  });

  it('costs the other servers nothing', async () => {
    const honest = await startFakeRedis();
    cleanups.push(() => honest.stop());
    const loud = ANSWERS.filter((answer) => !/^(a byte|nothing)/.test(answer));
    const hostile = await Promise.all(loud.map((answer) => start(answer)));
    const looks = hostile.map(({ port }) => linksTo(port, []).redis.probe());
    const good = new RedisLink({
      host: '127.0.0.1',
      port: honest.port,
      credentials: () => undefined,
      commandTimeoutMs: 30_000,
    });
    cleanups.push(() => good.close());
    for (let look = 0; look < 20; look += 1) expect((await good.probe()).reachable).toBe(true);
    expect((await Promise.all(looks)).filter((facts) => facts.reachable).length).toBeLessThanOrEqual(1);
  });
});
