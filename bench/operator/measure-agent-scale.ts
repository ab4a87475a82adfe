import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentMemory, AgentProcess } from './agent-process.ts';
import { AgentWorld } from './agent-world.ts';
import { countCommands, dataPodsOf } from './count-commands.ts';

export type ScaleMode = 'Replication' | 'Sentinel';
type Watched = AgentMemory & { readonly cpuPercent: number };

export interface AgentScale {
  readonly mode: ScaleMode;
  readonly redisClusters: number;
  /** From the first creation until all are Ready. */
  readonly allReadyS: number;
  /** The agent that made all of them, at rest. */
  readonly idle: Watched;
  /** Commands a minute that it sends each data pod at rest. */
  readonly commandsPerMinute: number;
  /** Starts of fresh processes that find all of them. */
  readonly readyMs: readonly number[];
  readonly lookedAtAllMs: readonly number[];
  /** The last of those, at rest. */
  readonly restarted: Watched;
}

export interface AgentScaleOptions {
  readonly serverArgv: readonly string[];
  readonly mode: ScaleMode;
  readonly sizes: readonly number[];
  readonly port: number;
  readonly starts: number;
  readonly settleMs: number;
  readonly watchMs: number;
  readonly log: (line: string) => void;
}

const NAMESPACE = 'bench';
const SPEC = {
  engine: { type: 'Redis', version: '8.0' },
  size: 3,
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } },
};
const BETWEEN_STARTS_MS = 1_000;
const READY_TIMEOUT_MS = 240_000;
/** Enough to be sure of a mean, few enough to cost the machine nothing. */
const COUNTED_REDIS_CLUSTERS = 10;

async function allReady({ member }: AgentWorld, wanted: number): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (member.countPhase('Ready') < wanted) {
    if (performance.now() > deadline) throw new Error(`${member.countPhase('Ready')} of ${wanted} became Ready`);
    await sleep(250);
  }
}

/** At rest: memory and CPU of the agent, and what it asks of its servers meanwhile. */
async function watchIdle(
  { member }: AgentWorld,
  agent: AgentProcess,
  size: number,
  { settleMs, watchMs }: AgentScaleOptions,
): Promise<{ idle: Watched; commandsPerMinute: number }> {
  await sleep(settleMs);
  const names = Array.from({ length: Math.min(size, COUNTED_REDIS_CLUSTERS) }, (_, index) => `r-${index}`);
  const pods = names.flatMap((name) => dataPodsOf(member, NAMESPACE, name));
  const before = await countCommands(pods);
  const startedAt = performance.now();
  const idle = await agent.watch(watchMs);
  const commands = (await countCommands(pods)) - before;
  return { idle, commandsPerMinute: (commands / pods.length / (performance.now() - startedAt)) * 60_000 };
}

/** One fresh process after another, each of which ends in order, so that the next need not wait for its Lease. */
async function measureStarts(
  world: AgentWorld,
  { starts, settleMs, watchMs }: AgentScaleOptions,
): Promise<Pick<AgentScale, 'readyMs' | 'lookedAtAllMs' | 'restarted'> & { readonly agent: AgentProcess }> {
  const [readyMs, lookedAtAllMs]: [number[], number[]] = [[], []];
  for (;;) {
    const agent = world.startAgent();
    readyMs.push(await agent.ready());
    lookedAtAllMs.push(await agent.lookedAtAll());
    const isLast = readyMs.length >= starts;
    await sleep(isLast ? settleMs : BETWEEN_STARTS_MS);
    if (isLast) return { readyMs, lookedAtAllMs, restarted: await agent.watch(watchMs / 2), agent };
    await agent.stop();
  }
}

/** One agent with so many RedisClusters of three data pods, each a real redis-server. Sizes ascend. */
export async function measureAgentScale(options: AgentScaleOptions): Promise<AgentScale[]> {
  const { mode, sizes, log } = options;
  const world = await AgentWorld.start(options.serverArgv, options.port);
  let agent = world.startAgent();
  const measured: AgentScale[] = [];
  try {
    await agent.ready();
    let made = 0;
    for (const size of sizes) {
      const startedAt = performance.now();
      for (; made < size; made += 1) world.member.createRedisCluster(NAMESPACE, `r-${made}`, { ...SPEC, mode });
      await allReady(world, size);
      const allReadyS = (performance.now() - startedAt) / 1_000;
      if (world.hubSessions === 0) throw new Error('the agent has no session with the hub, which would cost it less');
      const rest = await watchIdle(world, agent, size, options);
      await agent.stop();
      const { agent: last, ...starts } = await measureStarts(world, options);
      agent = last;
      const scale = { mode, redisClusters: size, allReadyS, ...rest, ...starts };
      log(`${world.member.redis.count} servers, ${world.hubSessions} sessions at the hub: ${JSON.stringify(scale)}`);
      measured.push(scale);
    }
    return measured;
  } finally {
    await agent.stop();
    await world.stop();
  }
}
