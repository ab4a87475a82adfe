/**
 * The operator at the engine: gaps and losses of failovers and switchovers, ours beside Sentinel alone in the same run, and
 * what the agent itself costs with 1, 50 and 200 RedisClusters of three data pods. Everything that speaks Redis is real;
 * Kubernetes is the fake API server with a kubelet that starts processes of this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAgent } from '../../tools/build/build-agent.ts';
import { ensureEnginePrograms } from '../../tools/local-kubernetes/index.ts';
import { asBenchRow, type BenchFigure, type BenchRow } from '../bench-row.ts';
import { measureAgentScale, type AgentScale } from './measure-agent-scale.ts';

/** Published: Karmada's agent in pull mode. */
const KARMADA_AGENT_MIB = 266;
const SIZES = [1, 50, 200];
const AGENT_PORT = 18_090;
const SETTLE_MS = 8_000;
const WATCH_MS = 12_000;
const log = (line: string): void => console.error(line);

function scaleFigures(scales: readonly AgentScale[]): BenchFigure[] {
  const rows = scales.flatMap((scale): BenchFigure[] => [
    {
      name: `agent memory, ${scale.redisClusters} RedisClusters`,
      value: scale.idleRssMib,
      unit: 'MiB',
      peer: 'Karmada agent, published',
      peerValue: KARMADA_AGENT_MIB,
      goal: scale.redisClusters <= 1 ? 70 : scale.redisClusters >= 200 ? 150 : null,
    },
    { name: '  after its restart', value: scale.afterRestartRssMib, unit: 'MiB' },
    {
      name: `agent CPU, ${scale.redisClusters} RedisClusters, idle`,
      value: scale.idleCpuPercent,
      unit: '%',
      goal: scale.redisClusters <= 1 ? 1 : null,
    },
    { name: '  all Ready after their creation', value: scale.allReadyS, unit: 's' },
    { name: '  start of the agent', value: scale.restartMs, unit: 'ms', goal: 500 },
  ]);
  const [first, last] = [scales[0], scales.at(-1)];
  if (first === undefined || last === undefined || first === last) return rows;
  const more = last.redisClusters - first.redisClusters;
  const kib = ((last.afterRestartRssMib - first.afterRestartRssMib) * 1024) / more;
  return [
    ...rows,
    { name: 'agent memory, each RedisCluster more', value: kib, unit: 'KiB' },
    {
      name: 'agent CPU, each 100 RedisClusters more',
      value: ((last.idleCpuPercent - first.idleCpuPercent) / more) * 100,
      unit: '%',
    },
  ];
}

export async function runOperator(): Promise<BenchRow[]> {
  await buildAgent();
  const engine = await ensureEnginePrograms('redis:8.0', log);
  if (typeof engine !== 'function') throw new Error(`redis:8.0 cannot be built: ${engine.reason}`);
  const folder = await mkdtemp(join(tmpdir(), 'atoll-bench-operator-'));
  try {
    const scales = await measureAgentScale({
      serverArgv: engine('redis-server'),
      sizes: SIZES,
      port: AGENT_PORT,
      settleMs: SETTLE_MS,
      watchMs: WATCH_MS,
      logFile: join(folder, 'agent.log'),
      log,
    });
    return scaleFigures(scales).map(asBenchRow);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
