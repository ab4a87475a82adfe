import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findMissing } from '../../tools/ledger/find-missing.ts';
import { GapMeter } from '../../tools/ledger/measure-gap.ts';
import { PodProbe } from '../../tools/ledger/probe-pod.ts';
import { UserWriter } from '../../tools/ledger/user-writer.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** One data set, as a client and a probe need to know it. */
export interface BenchTarget {
  readonly data: readonly ServerAddress[];
  /** Empty: there is none, and the client dials the primary. */
  readonly sentinels: readonly ServerAddress[];
  readonly masterName: string;
  /** Where there is no Sentinel: whom the primary's Service leads to now. */
  readonly primaryNow?: () => string;
  readonly username: string;
  readonly password: string;
}

export interface RunFigures {
  readonly engineGapMs: number;
  readonly clientGapMs: number;
  readonly acknowledged: number;
  readonly lost: number;
}

const BEFORE_MS = 1_000;
const PROBE_MS = 5;
const RECOVERED_MS = 2_000;
const GIVE_UP_MS = 40_000;

/** Writes and probes, lets `disturb` do its deed, waits until writes go on, and counts what of the acknowledged is gone. */
export async function measureRun(target: BenchTarget, run: string, disturb: () => Promise<void>): Promise<RunFigures> {
  const startedAt = performance.now();
  const redis = connectTarget(target);
  const engine = new GapMeter(startedAt);
  let lastAt = startedAt;
  const probes = target.data.map(
    (address) =>
      new PodProbe({
        ...address,
        credentials: () => target,
        key: `probe:${run}`,
        periodMs: PROBE_MS,
        onAccepted: (now) => {
          engine.succeeded(now);
          lastAt = now;
        },
        onRefused: () => undefined,
      }),
  );
  const writer = new UserWriter({ redis, run, writers: 8, periodMs: 10 }, startedAt);
  try {
    await sleep(BEFORE_MS);
    const disturbedAt = performance.now();
    await disturb();
    await recovered(writer, () => lastAt, disturbedAt);
    await writer.stop(GIVE_UP_MS);
    const now = performance.now();
    const figures = { engineGapMs: engine.longest(now).ms, clientGapMs: writer.gap.longest(now).ms };
    const lost = await findMissing(redis, writer.acknowledged);
    return { ...figures, acknowledged: writer.acknowledged.length, lost: lost.length };
  } finally {
    for (const probe of probes) probe.close();
    redis.disconnect();
  }
}

/** Both the probe and the client have gone on for a while; a deed without any gap needs no more than that while. */
async function recovered(writer: UserWriter, lastAt: () => number, since: number): Promise<void> {
  let count = writer.acknowledged.length;
  let steadyAt = performance.now();
  for (;;) {
    await sleep(100);
    const now = performance.now();
    if (writer.acknowledged.length === count || now - lastAt() > 200) steadyAt = now;
    count = writer.acknowledged.length;
    if (now - steadyAt > RECOVERED_MS && now - since > RECOVERED_MS + 500) return;
    if (now - since > GIVE_UP_MS) throw new Error(`no writes again within ${GIVE_UP_MS} ms`);
  }
}

function connectTarget({ data, sentinels, masterName, username, password, primaryNow }: BenchTarget): Redis {
  const common = {
    username,
    password,
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (2 as const) : false),
    retryStrategy: () => 50,
    connectTimeout: 1_000,
    failoverDetector: false,
  };
  const login = password === NO_SENTINEL_LOGIN ? {} : { sentinelUsername: username, sentinelPassword: password };
  const [first = { host: '127.0.0.1', port: 0 }] = data;
  const redis =
    sentinels.length === 0
      ? new Redis({ ...common, ...first })
      : new Redis({
          ...common,
          sentinels: [...sentinels],
          name: masterName,
          sentinelRetryStrategy: () => 50,
          ...login,
        });
  if (primaryNow !== undefined) redis.on('close', () => Object.assign(redis.options, { host: primaryNow() }));
  redis.on('error', () => undefined); // what matters is which writes are answered
  return redis;
}

/** The password of the bench's own sets, whose Sentinels ask nobody for one. */
export const NO_SENTINEL_LOGIN = 'bench-only';
