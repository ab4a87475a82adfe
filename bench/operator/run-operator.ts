/**
 * `npm run bench -- operator [--only engine|agent] [--clusters 1,50,200] [--mode Replication|Sentinel] [--watch SECONDS]`:
 * gaps and losses of failovers and switchovers, ours beside Sentinel alone in the same run, and what the agent itself costs
 * with so many RedisClusters of three data pods. Everything that speaks Redis is real; Kubernetes is the fake API server
 * with a kubelet that starts processes of this machine.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAgent } from '../../tools/build/build-agent.ts';
import { ensureEnginePrograms } from '../../tools/local-kubernetes/index.ts';
import { asBenchRow, percentile, type BenchFigure, type BenchRow } from '../bench-row.ts';
import { AgentProcess } from './agent-process.ts';
import { measureAgentScale } from './measure-agent-scale.ts';
import { measureOperator, type OperatorDeed } from './measure-operator.ts';
import type { RunFigures } from './measure-run.ts';
import { measureSentinelAlone, type Disturbance } from './measure-sentinel-alone.ts';
import { parseOperatorOptions } from './operator-options.ts';
import { scaleFigures } from './scale-figures.ts';
import { ScriptedMember } from './scripted-member.ts';

const AGENT_PORT = 18_090;
const SETTLE_MS = 8_000;
/** Starts of the agent at each size. */
const STARTS = 5;
/** Issue 4: failover on proof of death, and the planned one. */
const FAILOVER_GOALS: Goals = { engineMs: 800, clientMs: 1_800 };
const SWITCHOVER_GOALS: Goals = { engineMs: 1_000, clientMs: 2_000 };
const log = (line: string): void => console.error(line);

/** Medians of so many runs, each on a data set of its own. */
const RUNS = 3;

async function repeat(measure: (run: number) => Promise<RunFigures>, what: string): Promise<RunFigures> {
  const runs: RunFigures[] = [];
  for (let run = 1; run <= RUNS; run += 1) {
    const figures = await measure(run);
    log(`${what}, run ${run}: ${JSON.stringify(figures)}`);
    runs.push(figures);
  }
  const median = (pick: (figures: RunFigures) => number): number => percentile(runs.map(pick), 0.5);
  return {
    engineGapMs: median((each) => each.engineGapMs),
    clientGapMs: median((each) => each.clientGapMs),
    acknowledged: runs.reduce((sum, each) => sum + each.acknowledged, 0),
    lost: runs.reduce((sum, each) => sum + each.lost, 0),
  };
}

interface Goals {
  readonly engineMs: number;
  readonly clientMs: number;
}

function gapFigures(
  name: string,
  ours: RunFigures,
  peer: readonly [string, RunFigures] | null,
  goals: Goals,
): BenchFigure[] {
  const [who, theirs] = peer ?? [null, null];
  const row = (what: string, pick: (figures: RunFigures) => number, unit: BenchFigure['unit'], goal: number) => ({
    name: `${name}: ${what}`,
    value: pick(ours),
    unit,
    goal,
    peer: who,
    peerValue: theirs === null ? null : pick(theirs),
  });
  return [
    row('gap at the engine', (each) => each.engineGapMs, 'ms', goals.engineMs),
    row('gap at an ioredis client', (each) => each.clientGapMs, 'ms', goals.clientMs),
    row('acknowledged writes lost', (each) => each.lost, 'writes', 0),
  ];
}

/** P16 to P20 of the measured anchors: ours beside Sentinel without an operator, on the same engine in the same run. */
async function engineFigures(server: readonly [string, ...string[]], folder: string): Promise<BenchFigure[]> {
  const member = await ScriptedMember.start(server);
  const agent = new AgentProcess(await member.writeKubeconfig(), AGENT_PORT, join(folder, 'agent-engine.log'));
  try {
    await agent.ready();
    const ours = (mode: 'Sentinel' | 'Replication', deed: OperatorDeed) =>
      repeat((run) => measureOperator(member, mode, deed, `${mode}-${deed}-${run}`.toLowerCase()), `${mode} ${deed}`);
    const alone = (deed: Disturbance) =>
      repeat((run) => measureSentinelAlone(server, deed, `alone-${deed}-${run}`), `Sentinel alone ${deed}`);
    const [killed, terminated, live] = [await alone('kill'), await alone('terminate'), await alone('failover')];
    const byItself = 'Sentinel alone, this run';
    return [
      ...gapFigures('P16 primary killed', await ours('Sentinel', 'kill'), [byItself, killed], FAILOVER_GOALS),
      ...gapFigures(
        'P17 primary terminated',
        await ours('Sentinel', 'terminate'),
        [byItself, terminated],
        FAILOVER_GOALS,
      ),
      ...gapFigures(
        'P18/P19 planned switchover',
        await ours('Sentinel', 'switchover'),
        ['SENTINEL FAILOVER alone, this run', live],
        SWITCHOVER_GOALS,
      ),
      ...gapFigures('P20 switchover without Sentinel', await ours('Replication', 'switchover'), null, SWITCHOVER_GOALS),
    ];
  } finally {
    await agent.stop();
    await member.stop();
  }
}

export async function runOperator(args: readonly string[]): Promise<BenchRow[]> {
  const wanted = parseOperatorOptions(args);
  await buildAgent();
  const engine = await ensureEnginePrograms('redis:8.0', log);
  if (typeof engine !== 'function') throw new Error(`redis:8.0 cannot be built: ${engine.reason}`);
  const serverArgv = engine('redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'atoll-bench-operator-'));
  try {
    const engineRows = wanted.engine ? await engineFigures(serverArgv, folder) : [];
    const options = { serverArgv, mode: wanted.mode, sizes: wanted.sizes, watchMs: wanted.watchS * 1_000, log };
    const fixed = { port: AGENT_PORT, starts: STARTS, settleMs: SETTLE_MS };
    const scales = wanted.agent ? await measureAgentScale({ ...options, ...fixed }) : [];
    return [...engineRows, ...scaleFigures(scales)].map(asBenchRow);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
