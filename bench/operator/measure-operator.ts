import { setTimeout as sleep } from 'node:timers/promises';
import { REDIS_PORT, SENTINEL_PORT } from '#domain';
import { measureRun, type BenchTarget, type RunFigures } from './measure-run.ts';
import type { ScriptedMember } from './scripted-member.ts';

export type OperatorDeed = 'kill' | 'terminate' | 'switchover';

const NAMESPACE = 'engine';
const READY_WITHIN_MS = 60_000;
/** Sentinels hear of each other and of the replicas every 2 and 10 s. */
const KNOWN_AFTER_MS = 12_000;
const SPEC = {
  engine: { type: 'Redis', version: '8.0' },
  size: 3,
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } },
};

/** The same with the operator: a RedisCluster of its own for each run, under an agent that is running already. */
export async function measureOperator(
  member: ScriptedMember,
  mode: 'Sentinel' | 'Replication',
  deed: OperatorDeed,
  run: string,
): Promise<RunFigures> {
  member.createRedisCluster(NAMESPACE, run, { ...SPEC, mode });
  const deadline = performance.now() + READY_WITHIN_MS;
  while (member.phaseOf(NAMESPACE, run) !== 'Ready') {
    if (performance.now() > deadline) throw new Error(`${run} is ${member.phaseOf(NAMESPACE, run) ?? 'nothing'}`);
    await sleep(200);
  }
  if (mode === 'Sentinel') await sleep(KNOWN_AFTER_MS);
  const primary = member.primaryAddress(NAMESPACE, run);
  const target: BenchTarget = {
    ...member.connection(NAMESPACE, run),
    primaryNow: () => member.labelledPrimary(NAMESPACE, run) ?? primary,
    data: putFirst(member.addresses(NAMESPACE, run, 'redis'), primary).map((host) => ({ host, port: REDIS_PORT })),
    sentinels: member.addresses(NAMESPACE, run, 'sentinel').map((host) => ({ host, port: SENTINEL_PORT })),
  };
  return measureRun(target, run, async () => {
    if (deed === 'kill') member.redis.kill(primary, 'SIGKILL');
    if (deed === 'terminate') member.redis.kill(primary, 'SIGTERM');
    if (deed === 'switchover')
      member.createOperation(NAMESPACE, `${run}-failover`, { redisCluster: run, type: 'Failover' });
    await Promise.resolve();
  });
}

const putFirst = (hosts: readonly string[], first: string): readonly string[] => [
  first,
  ...hosts.filter((host) => host !== first),
];
