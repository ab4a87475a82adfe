/** The hand-over on real servers, without Kubernetes, under a user's client and a raw probe of each node. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisLink, SentinelLink } from '#redis';
import { startSentinelSet } from '#testing';
import type { SentinelSet, SentinelSetOptions } from '#testing';
import { GapMeter } from '../../../../tools/ledger/measure-gap.ts';
import { UserWriter } from '../../../../tools/ledger/user-writer.ts';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';
import { executeSwitchOver } from './execute-switch-over.ts';
import type { ActionOf, ExecutionContext } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';

const HOST = '127.0.0.1';
const MASTER = 'medium-1';
const running: SentinelSet[] = [];
const POLL = { timeout: 10_000 };

afterEach(async () => {
  await Promise.all(running.splice(0).map((set) => set.stop()));
});

const start = async (overrides: Partial<SentinelSetOptions> = {}): Promise<SentinelSet> => {
  const programs = await ensureEnginePrograms('redis:7.0');
  if ('unavailable' in programs) throw new Error(programs.reason);
  const options = { size: 3, sentinels: 3, downAfterMs: 5_000, masterName: MASTER, ...overrides };
  const set = await startSentinelSet({ server: programs('redis-server'), ...options });
  running.push(set);
  return set;
};

const contextOf = ({ data, sentinels }: SentinelSet): ExecutionContext =>
  ({
    assertMayWrite: () => undefined,
    findRedis: (pod: string) => data.find(({ name }) => name === pod)?.link,
    findSentinel: (pod: string) => sentinels.find(({ name }) => name === pod)?.link,
  }) as unknown as ExecutionContext;

/** A context whose connections never answer again after this call was made: the agent is killed right there. */
const contextKilledAfter = (set: SentinelSet, last: keyof RedisLink | keyof SentinelLink) => {
  let killed: (() => void) | undefined;
  const dead = new Promise<void>((resolve) => (killed = resolve));
  let isDead = false;
  const mortal = <L extends object>(link: L | undefined): L | undefined =>
    link &&
    new Proxy(link, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (isDead) await new Promise(() => undefined);
          const answer: unknown = await (value as (...given: unknown[]) => unknown).apply(target, args);
          if (name !== last) return answer;
          isDead = true;
          killed?.();
          return new Promise(() => undefined);
        };
      },
    });
  const context = contextOf(set);
  const mortalContext: ExecutionContext = {
    ...context,
    findRedis: (pod) => mortal(context.findRedis(pod)),
    findSentinel: (pod) => mortal(context.findSentinel(pod)),
  };
  return { dead, context: mortalContext };
};

const runIdsOf = ({ data }: SentinelSet): Promise<readonly string[]> =>
  Promise.all(
    data.map(async ({ link }) => {
      const facts = await link.probe();
      return facts.reachable ? facts.runId : '';
    }),
  );

/** As the planner waits for it: Sentinels hear of the last hand-over from each other, every two seconds. */
const untilSentinelsName = async ({ data, sentinels }: SentinelSet, primary: number): Promise<void> => {
  const port = data[primary]?.port;
  const endsAtMs = performance.now() + 15_000;
  while (performance.now() < endsAtMs) {
    const views = await Promise.all(sentinels.map(({ link }) => link.probe(MASTER)));
    if (views.every((view) => view.reachable && view.primaryPort === port)) return;
    await sleep(50);
  }
  throw new Error(`not every Sentinel names redis-${primary}`);
};

const planFor = async (set: SentinelSet, from: number, to: number): Promise<ActionOf<'SwitchOver'>> => {
  const { data, sentinels } = set;
  await untilSentinelsName(set, from);
  const runIds = await runIdsOf(set);
  const pods = data.map(({ name }, index) => ({ pod: name, runId: runIds[index] ?? '' }));
  return {
    kind: 'SwitchOver',
    method: sentinels.length > 0 ? 'SENTINEL' : 'COMMAND',
    from: `redis-${from}`,
    fromRunId: runIds[from] ?? '',
    to: `redis-${to}`,
    toRunId: runIds[to] ?? '',
    toHost: HOST,
    masterName: MASTER,
    sentinelPods: sentinels.map(({ name }) => name),
    replicas: pods.filter((_, index) => index !== from && index !== to),
    reason: 'Test',
    message: 'A test asks for it.',
    disruptive: true,
  };
};

const RESEND_READONLY: Pick<RedisOptions, 'reconnectOnError'> = {
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
};

/** By way of Sentinel. */
const connect = ({ sentinels }: SentinelSet, options: typeof RESEND_READONLY = RESEND_READONLY): Redis => {
  const redis = new Redis({
    sentinels: sentinels.map(({ port }) => ({ host: HOST, port })),
    name: MASTER,
    sentinelRetryStrategy: () => 50,
    retryStrategy: () => 50,
    ...options,
  });
  redis.on('error', () => undefined);
  return redis;
};

/** One write after another at every node; the longest time in which none was taken is the engine's gap. */
const probeNodes = ({ data }: SentinelSet) => {
  const gap = new GapMeter(performance.now());
  const taken: string[] = [];
  const run = randomUUID();
  let stopped = false;
  const loops = data.map(async ({ port, name }) => {
    const redis = new Redis({ host: HOST, port, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    for (let number = 0; !stopped; number += 1) {
      const key = `p:${run}:${name}:${number}`;
      await redis.set(key, '1').then(
        () => {
          gap.succeeded(performance.now());
          taken.push(key);
        },
        () => undefined,
      );
      await sleep(5);
    }
    redis.disconnect();
  });
  const stop = async (): Promise<void> => {
    stopped = true;
    await Promise.race([Promise.all(loops), sleep(3_000)]);
  };
  return { gap, taken, stop };
};

const countMissing = async ({ data }: SentinelSet, primary: number, keys: readonly string[]): Promise<number> => {
  const redis = new Redis({ host: HOST, port: data[primary]?.port ?? 0 });
  const values = await redis.mget([...keys]);
  redis.disconnect();
  return values.filter((value) => value === null).length;
};

/** Undefined when not every node answered: one that was not asked may be one. */
const findPrimaries = async ({ data }: SentinelSet): Promise<readonly number[] | undefined> => {
  const facts = await Promise.all(data.map(({ link }) => link.probe()));
  if (facts.some(({ reachable }) => !reachable)) return undefined;
  return facts.flatMap((one, index) => (one.reachable && one.role === 'master' ? [index] : []));
};

const expectAllFollow = async ({ data }: SentinelSet, primary: number): Promise<void> => {
  const others = { role: 'slave', masterPort: data[primary]?.port, linkUp: true };
  const wanted = data.map((_, index) => ({
    reachable: true,
    config: { 'replica-priority': '100' },
    ...(index === primary ? { role: 'master' } : others),
  }));
  await expect
    .poll(() => Promise.all(data.map(({ link }) => link.probe(['replica-priority']))), POLL)
    .toMatchObject(wanted);
};

/** Nobody takes a write at the old primary when the new one has begun to. */
const expectInTurn = (taken: readonly string[], from: number, to: number): void => {
  const at = (node: number) => (key: string) => key.split(':')[2] === `redis-${node}`;
  expect(taken.findLastIndex(at(from))).toBeLessThan(taken.findIndex(at(to)));
};

describe('a switchover on real servers', () => {
  it('by Sentinel: to the wanted replica, thrice, nothing lost, short gaps', async () => {
    const set = await start();
    const redis = connect(set);
    const writer = new UserWriter({ redis, run: randomUUID(), writers: 8, periodMs: 2 }, performance.now());
    const probe = probeNodes(set);
    await sleep(300);
    const figures: { clientMs: number; engineMs: number; tookMs: number }[] = [];
    for (const [from, to] of [
      [0, 2],
      [2, 1],
      [1, 0],
    ] as const) {
      const action = await planFor(set, from, to);
      writer.gap.reset(performance.now());
      probe.gap.reset(performance.now());
      const beganMs = performance.now();
      await executeSwitchOver(action, contextOf(set));
      const tookMs = Math.round(performance.now() - beganMs);
      await sleep(1_000);
      const now = performance.now();
      const clientMs = Math.round(writer.gap.longest(now).ms);
      figures.push({ clientMs, engineMs: Math.round(probe.gap.longest(now).ms), tookMs });
      await expectAllFollow(set, to);
    }
    await Promise.all([writer.stop(3_000), probe.stop()]);
    redis.disconnect();
    process.stdout.write(`switchover by Sentinel: ${JSON.stringify(figures)}\n`);
    expect(writer.acknowledged.length).toBeGreaterThan(300);
    expect(await countMissing(set, 0, writer.acknowledged)).toBe(0);
    expect(await countMissing(set, 0, probe.taken)).toBe(0);
    for (const { clientMs, engineMs, tookMs } of figures) {
      expect(clientMs).toBeLessThanOrEqual(2_000);
      expect(engineMs).toBeLessThan(2_500);
      expect(tookMs).toBeLessThan(20_000);
    }
  }, 60_000);

  it('a client that looks for its primary only when its connection ends is not left at the old one', async () => {
    const set = await start();
    const redis = connect(set, {});
    const subscriber = connect(set, {});
    const heard = new Set<string>();
    subscriber.on('message', (_channel, text) => void heard.add(text));
    await subscriber.subscribe('news');
    const writer = new UserWriter({ redis, run: randomUUID(), writers: 4, periodMs: 5 }, performance.now());
    await sleep(300);
    await executeSwitchOver(await planFor(set, 0, 2), contextOf(set));
    const before = writer.acknowledged.length;
    await expect.poll(() => writer.acknowledged.length - before, POLL).toBeGreaterThan(20);
    // Who publishes before the subscriber is back is heard by nobody, on one server as well.
    await expect.poll(() => redis.pubsub('NUMSUB', 'news'), POLL).toEqual(['news', 1]);
    await redis.publish('news', 'after');
    await writer.stop(3_000);
    await expect.poll(() => heard.has('after'), POLL).toBe(true);
    for (const client of [redis, subscriber]) client.disconnect();
    expect(writer.errorKinds).toEqual({});
    expect(await countMissing(set, 2, writer.acknowledged)).toBe(0);
  }, 60_000);

  it('without Sentinel: by the server itself, nothing lost', async () => {
    const set = await start({ sentinels: 0 });
    const probe = probeNodes(set);
    await sleep(300);
    probe.gap.reset(performance.now());
    await executeSwitchOver(await planFor(set, 0, 2), contextOf(set));
    await expect
      .poll(() => probe.taken.filter((key) => key.split(':')[2] === 'redis-2').length, POLL)
      .toBeGreaterThan(20);
    const engineMs = Math.round(probe.gap.longest(performance.now()).ms);
    await probe.stop();
    process.stdout.write(`switchover by command: ${JSON.stringify({ engineMs })}\n`);
    await expectAllFollow(set, 2);
    expect(await countMissing(set, 2, probe.taken)).toBe(0);
    expectInTurn(probe.taken, 0, 2);
  }, 60_000);

  it('is refused for another process, and for a node that is no linked replica; nothing is paused', async () => {
    const set = await start({ size: 2, sentinels: 0 });
    const action = await planFor(set, 0, 1);
    const refused = (change: Partial<ActionOf<'SwitchOver'>>) =>
      executeSwitchOver({ ...action, ...change }, contextOf(set));
    await expect(refused({ toRunId: 'another' })).rejects.toMatchObject({ code: 'RESTARTED' });
    const itself = { from: 'redis-1', fromRunId: action.toRunId };
    await expect(refused(itself)).rejects.toMatchObject({ code: 'NOT_LINKED' });
    expect(await findPrimaries(set)).toEqual([0]);
  }, 30_000);

  it('a replica that does not catch up keeps the old primary, which takes writes again', async () => {
    const set = await start();
    const action = await planFor(set, 0, 1);
    const left = await set.data[2]?.link.replicaOf({ expectRunId: '', primaryHost: '127.255.255.254', primaryPort: 1 });
    expect(left?.outcome).toBe('DONE');
    const redis = new Redis({ host: HOST, port: set.data[0]?.port ?? 0 });
    await redis.set('before', '1');
    await expect(executeSwitchOver(action, contextOf(set))).rejects.toMatchObject({ code: 'NOT_CAUGHT_UP' });
    expect(await findPrimaries(set)).toEqual([0]);
    expect(await redis.set('after', '1')).toBe('OK');
    redis.disconnect();
    expect(await set.data[1]?.link.configGet(['replica-priority'])).toEqual({ 'replica-priority': '100' });
  }, 60_000);
});

describe('an agent that is killed in the middle of a switchover', () => {
  const killedAfter = async (step: 'setInfoPeriod' | 'pauseWrites' | 'failOver' | 'replicaOf'): Promise<void> => {
    const set = await start();
    const probe = probeNodes(set);
    await sleep(200);
    const { dead, context } = contextKilledAfter(set, step);
    void executeSwitchOver(await planFor(set, 0, 2), context);
    await dead;
    const before = probe.taken.length;
    // The pause ends by itself, or the Sentinels end it; then somebody takes writes again, with all that was taken before.
    const resumed = await pollUntil({ withinMs: 25_000, everyMs: 50 }, async () =>
      probe.taken.length > before + 20 ? true : undefined,
    );
    expect(resumed, step).toBe(true);
    const one = await pollUntil({ withinMs: 25_000, everyMs: 200 }, async () => {
      const primaries = await findPrimaries(set);
      return primaries?.length === 1 ? primaries[0] : undefined;
    });
    await sleep(500);
    await probe.stop();
    expect(await countMissing(set, one ?? 0, probe.taken), step).toBe(0);
    await expect.poll(() => findPrimaries(set), POLL).toEqual([one]);
  };

  it('leaves no write lost and one primary, whichever step it was', async () => {
    await Promise.all((['setInfoPeriod', 'pauseWrites', 'failOver', 'replicaOf'] as const).map(killedAfter));
  }, 90_000);
});
