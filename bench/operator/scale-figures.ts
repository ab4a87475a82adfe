import { percentile, type BenchFigure } from '../bench-row.ts';
import type { AgentScale } from './measure-agent-scale.ts';

/** Published: Karmada's agent in pull mode. */
const KARMADA_AGENT_MIB = 266;
/** Design, "Light". What is between 1 and 200 has no goal of its own. */
const MEMORY_GOAL_MIB: Readonly<Record<number, number>> = { 1: 70, 200: 150 };
const IDLE_CPU_GOAL: Readonly<Record<number, number>> = { 1: 1 };
const START_GOAL_MS = 500;
/** docs/reference/polling.md: half a command a second at each data pod. */
const COMMANDS_GOAL_PER_MINUTE = 30;

const groupOf = ({ mode }: AgentScale): string =>
  `the agent itself: RedisClusters of three data pods${mode === 'Sentinel' ? ' and three Sentinels' : ''}`;

/** What each size costs, then what each RedisCluster more costs from one size to the next, which shows whether it is linear. */
export function scaleFigures(scales: readonly AgentScale[]): BenchFigure[] {
  return [
    ...scales.flatMap((scale) => [...restFigures(scale), ...startFigures(scale)]),
    ...scales.slice(1).flatMap((scale, index) => growthFigures(scales[index] ?? scale, scale)),
  ].map((figure) => ({ ...figure, group: scales[0] === undefined ? null : groupOf(scales[0]) }));
}

function restFigures({ redisClusters, idle, restarted, commandsPerMinute, allReadyS }: AgentScale): BenchFigure[] {
  const goal = MEMORY_GOAL_MIB[redisClusters] ?? null;
  return [
    {
      name: `${redisClusters}: memory (RSS), at rest`,
      value: idle.rssMib,
      unit: 'MiB',
      peer: 'Karmada agent, published',
      peerValue: KARMADA_AGENT_MIB,
      goal,
    },
    { name: '  of it its own', value: idle.anonMib, unit: 'MiB' },
    { name: '  after its restart', value: restarted.rssMib, unit: 'MiB', goal },
    {
      name: `${redisClusters}: CPU at rest, of a core`,
      value: idle.cpuPercent,
      unit: '%',
      goal: IDLE_CPU_GOAL[redisClusters] ?? null,
    },
    {
      name: '  commands a minute at a data pod',
      value: commandsPerMinute,
      unit: '/min',
      goal: COMMANDS_GOAL_PER_MINUTE,
    },
    { name: '  all Ready after their creation', value: allReadyS, unit: 's' },
  ];
}

/** Ready: it leads, its picture of Kubernetes is complete, it acts. Looked at: a pass over each RedisCluster has ended. */
function startFigures({ redisClusters, readyMs, lookedAtAllMs }: AgentScale): BenchFigure[] {
  return [
    {
      name: `${redisClusters}: start until ready, P50 of ${readyMs.length}`,
      value: percentile(readyMs, 0.5),
      unit: 'ms',
      goal: START_GOAL_MS,
    },
    { name: '  the slowest', value: Math.max(...readyMs), unit: 'ms' },
    { name: '  until all were looked at, P50', value: percentile(lookedAtAllMs, 0.5), unit: 'ms' },
  ];
}

function growthFigures(from: AgentScale, to: AgentScale): BenchFigure[] {
  const more = to.redisClusters - from.redisClusters;
  const name = (what: string): string =>
    `each RedisCluster more, ${from.redisClusters} to ${to.redisClusters}: ${what}`;
  const kib = ((to.restarted.rssMib - from.restarted.rssMib) * 1024) / more;
  // A percent of a core is 600 ms of a minute.
  const cpuMs = ((to.idle.cpuPercent - from.idle.cpuPercent) * 600) / more;
  return [
    { name: name('memory'), value: kib, unit: 'KiB' },
    { name: name('CPU a minute'), value: cpuMs, unit: 'ms' },
  ];
}
