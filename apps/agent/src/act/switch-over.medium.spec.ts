import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { startSentinelSet } from '#testing';
import type { SentinelSet, SentinelSetOptions } from '#testing';
import { UserWriter } from '../../../../tools/ledger/user-writer.ts';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';
import { executeSwitchOver } from './execute-switch-over.ts';
import { FencedError } from './execution-context.ts';
import type { ActionOf, ExecutionContext } from './execution-context.ts';

const HOST = '127.0.0.1';
const MASTER = 'medium-1';
let set: SentinelSet | undefined;

afterEach(async () => {
  await set?.stop();
  set = undefined;
});

const start = async (overrides: Partial<SentinelSetOptions> = {}): Promise<SentinelSet> => {
  const programs = await ensureEnginePrograms('redis:7.0');
  if ('unavailable' in programs) throw new Error(programs.reason);
  const server = programs('redis-server');
  set = await startSentinelSet({ server, size: 3, sentinels: 3, downAfterMs: 5_000, masterName: MASTER, ...overrides });
  return set;
};

/** What an executor is given, with a fence that closes before the n-th write, as a kill of the agent would end it. */
const contextOf = ({ data, sentinels }: SentinelSet, writes = Infinity): ExecutionContext => {
  let left = writes;
  return {
    assertMayWrite: () => {
      left -= 1;
      if (left < 0) throw new FencedError();
    },
    findRedis: (pod: string) => data.find(({ name }) => name === pod)?.link,
    findSentinel: (pod: string) => sentinels.find(({ name }) => name === pod)?.link,
  } as unknown as ExecutionContext;
};

const planFor = async ({ data, sentinels }: SentinelSet, from: number, to: number): Promise<ActionOf<'SwitchOver'>> => {
  const runIds = await Promise.all(
    data.map(async ({ link }) => {
      const facts = await link.probe();
      return facts.reachable ? facts.runId : '';
    }),
  );
  const others = data.filter((_, index) => index !== from && index !== to);
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
    replicas: others.map(({ name }) => ({
      pod: name,
      runId: runIds[data.findIndex((one) => one.name === name)] ?? '',
    })),
    reason: 'Test',
    message: '',
    disruptive: true,
  };
};

const connect = ({ data, sentinels }: SentinelSet): Redis => {
  const common = {
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (2 as const) : false),
    retryStrategy: () => 50,
  };
  const redis =
    sentinels.length > 0
      ? new Redis({
          ...common,
          sentinels: sentinels.map(({ port }) => ({ host: HOST, port })),
          name: MASTER,
          sentinelRetryStrategy: () => 50,
        })
      : new Redis({ ...common, host: HOST, port: data[0]?.port ?? 0 });
  redis.on('error', () => undefined);
  return redis;
};

interface Measured {
  readonly acknowledged: number;
  readonly lost: number;
  readonly clientGapMs: number;
  readonly tookMs: number;
}

/** Runs the work under writers and probes, and counts at the new primary what of the acknowledged is there. */
const underLoad = async (running: SentinelSet, to: number, work: () => Promise<void>): Promise<Measured> => {
  const redis = connect(running);
  const startedAt = performance.now();
  const writer = new UserWriter({ redis, run: randomUUID(), writers: 10, periodMs: 1 }, startedAt);
  await sleep(300);
  writer.gap.reset(performance.now());
  const beganMs = performance.now();
  await work();
  const tookMs = performance.now() - beganMs;
  await sleep(1_500);
  const clientGapMs = writer.gap.longest(performance.now()).ms;
  await writer.stop(5_000);
  redis.disconnect();
  const primary = new Redis({ host: HOST, port: running.data[to]?.port ?? 0 });
  const found = await primary.mget(writer.acknowledged);
  primary.disconnect();
  const lost = found.filter((value) => value === null).length;
  return { acknowledged: writer.acknowledged.length, lost, clientGapMs, tookMs };
};

const roles = async ({ data }: SentinelSet): Promise<readonly string[]> =>
  Promise.all(
    data.map(async ({ link }) => {
      const facts = await link.probe();
      if (!facts.reachable) return 'silent';
      return facts.role === 'master' ? 'primary' : `${facts.masterPort} ${facts.linkUp === true ? 'up' : 'down'}`;
    }),
  );

describe('switch-over on real servers', () => {
  it('by Sentinel: the wanted replica, back and forth, nothing lost, short gaps', async () => {
    const running = await start();
    for (const [from, to] of [
      [0, 2],
      [2, 1],
      [1, 0],
    ] as const) {
      const action = await planFor(running, from, to);
      const measured = await underLoad(running, to, () => executeSwitchOver(action, contextOf(running)));
      expect(measured.lost).toBe(0);
      expect(await roles(running)).toContain('primary');
    }
  });

  it('without Sentinel: by the server itself', async () => {
    const running = await start({ sentinels: 0 });
    const action = await planFor(running, 0, 2);
    const measured = await underLoad(running, 2, () => executeSwitchOver(action, contextOf(running)));
    expect(measured.lost).toBe(0);
    expect(await roles(running)).toContain('primary');
  });
});
