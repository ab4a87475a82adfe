import { setTimeout as sleep } from 'node:timers/promises';
import { AgentProcess } from './agent-process.ts';
import { ScriptedMember } from './scripted-member.ts';

export interface AgentScale {
  readonly redisClusters: number;
  /** From the first creation until all are Ready. */
  readonly allReadyS: number;
  readonly idleRssMib: number;
  readonly idleCpuPercent: number;
  /** Start of a fresh process that finds all of them. */
  readonly restartMs: number;
  readonly afterRestartRssMib: number;
  readonly afterRestartCpuPercent: number;
}

export interface AgentScaleOptions {
  readonly serverArgv: readonly string[];
  readonly sizes: readonly number[];
  readonly port: number;
  readonly settleMs: number;
  readonly watchMs: number;
  readonly log: (line: string) => void;
  readonly logFile: string;
}

const SPEC = {
  engine: { type: 'Redis', version: '8.0' },
  mode: 'Replication',
  size: 3,
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } },
};
const READY_TIMEOUT_MS = 240_000;

async function allReady(member: ScriptedMember, wanted: number): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (member.countPhase('Ready') < wanted) {
    if (performance.now() > deadline) throw new Error(`${member.countPhase('Ready')} of ${wanted} became Ready`);
    await sleep(250);
  }
}

/** Memory and CPU of one agent with so many RedisClusters of three data pods, each a real redis-server. Sizes ascend. */
export async function measureAgentScale(options: AgentScaleOptions): Promise<AgentScale[]> {
  const { port, settleMs, watchMs, log, logFile } = options;
  const member = await ScriptedMember.start(options.serverArgv);
  const kubeconfig = await member.writeKubeconfig();
  let agent = new AgentProcess(kubeconfig, port, logFile);
  const measured: AgentScale[] = [];
  try {
    await agent.ready();
    let made = 0;
    for (const size of options.sizes) {
      const startedAt = performance.now();
      for (; made < size; made += 1) member.createRedisCluster('bench', `r-${made}`, SPEC);
      await allReady(member, size);
      const allReadyS = (performance.now() - startedAt) / 1_000;
      await sleep(settleMs);
      const idle = await agent.watch(watchMs);
      await agent.stop();
      agent = new AgentProcess(kubeconfig, port, logFile);
      const restartMs = await agent.ready();
      await sleep(settleMs);
      const restarted = await agent.watch(watchMs);
      log(
        `${size} RedisClusters, ${member.redis.count} redis-servers, ${member.requests} requests: ${JSON.stringify({ allReadyS, idle, restartMs, restarted })}`,
      );
      measured.push({
        redisClusters: size,
        allReadyS,
        idleRssMib: idle.rssMib,
        idleCpuPercent: idle.cpuPercent,
        restartMs,
        afterRestartRssMib: restarted.rssMib,
        afterRestartCpuPercent: restarted.cpuPercent,
      });
    }
    return measured;
  } finally {
    await agent.stop();
    await member.stop();
  }
}
