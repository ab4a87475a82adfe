import { Redis } from 'ioredis';
import { startSentinelSet, type SentinelSet } from '#testing';
import { measureRun, NO_SENTINEL_LOGIN, type BenchTarget, type RunFigures } from './measure-run.ts';

export type Disturbance = 'kill' | 'terminate' | 'failover';

const HOST = '127.0.0.1';
const MASTER_NAME = 'bench';

/** What Sentinel does without an operator, with the time-outs that the operator sets. A fresh set for each run. */
export async function measureSentinelAlone(
  server: readonly [string, ...string[]],
  disturbance: Disturbance,
  run: string,
): Promise<RunFigures> {
  const config = [`user app on >${NO_SENTINEL_LOGIN} ~* &* +@all`];
  const set = await startSentinelSet({
    server,
    size: 3,
    sentinels: 3,
    downAfterMs: 5_000,
    masterName: MASTER_NAME,
    config,
  });
  try {
    return await measureRun(targetOf(set), run, () => disturb(set, disturbance));
  } finally {
    await set.stop();
  }
}

const targetOf = ({ data, sentinels }: SentinelSet): BenchTarget => ({
  data: data.map(({ port }) => ({ host: HOST, port })),
  sentinels: sentinels.map(({ port }) => ({ host: HOST, port })),
  masterName: MASTER_NAME,
  username: 'app',
  password: NO_SENTINEL_LOGIN,
});

async function disturb({ data, sentinels }: SentinelSet, disturbance: Disturbance): Promise<void> {
  const [primary] = data;
  const [sentinel] = sentinels;
  if (primary === undefined || sentinel === undefined) throw new Error('the set is empty');
  if (disturbance === 'kill') process.kill(primary.pid, 'SIGKILL');
  if (disturbance === 'terminate') process.kill(primary.pid, 'SIGTERM');
  if (disturbance !== 'failover') return;
  const client = new Redis({ host: HOST, port: sentinel.port });
  await client.call('SENTINEL', 'FAILOVER', MASTER_NAME).finally(() => client.disconnect());
}
