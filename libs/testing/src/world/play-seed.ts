/**
 * One seeded life of a data set: it is created, suffers, comes to rest, and must then be whole: every acknowledged write
 * readable at the primary, the phase Ready, and a pass that plans nothing. The planner is given as a function, so that
 * this library does not depend on it.
 */
import { dataSetIdOf } from '#domain';
import type { Plan, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { nameObjects } from '#manifests';
import { checkLedger, checkRoles, excuseDestroyed } from './check-invariants.ts';
import { drawResource } from './draw-snapshot.ts';
import { executeInWorld } from './execute-in-world.ts';
import { followAdvice } from './follow-advice.ts';
import { endFaults, injectFault } from './inject-fault.ts';
import { observeWorld } from './observe-world.ts';
import { runGuard } from './run-guard.ts';
import { runPods } from './run-pods.ts';
import { runClient, runReplication } from './run-redis.ts';
import { runSentinels } from './run-sentinels.ts';
import { makeRandom } from './seeded-random.ts';
import { TICK_MS, podsOf, redisOf, tell, violate } from './world-state.ts';
import type { World } from './world-state.ts';

export type PlanWorld = (snapshot: RedisClusterSnapshot, nowMs: number) => Plan;

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly log: readonly string[];
  readonly acknowledged: number;
  readonly excused: number;
  readonly restMs: number;
  /** What a person was asked before the world could come to rest; he did as he was told. */
  readonly asked: readonly string[];
}

const CALM_TICKS = 40;
const CHAOS_TICKS = 160;
const REST_TICKS = 240;
const QUIET_TICKS = 12;
const MAX_ADVICE = 4;
/** The chance that the agent is killed after any one action. */
const KILL_CHANCE = 0.15;

const SPECS: readonly Partial<RedisClusterSpec>[] = [
  { mode: 'Sentinel', size: 3, storage: { type: 'PersistentVolume', size: '1Gi' } },
  { mode: 'Sentinel', size: 3 },
  { mode: 'Sentinel', size: 2, storage: { type: 'PersistentVolume', size: '1Gi' } },
  { mode: 'Replication', size: 3, storage: { type: 'PersistentVolume', size: '1Gi' } },
  { mode: 'Replication', size: 3 },
  { mode: 'Standalone', storage: { type: 'PersistentVolume', size: '1Gi' } },
];

export const makeWorld = (seed: number): World => {
  const random = makeRandom(seed);
  const spec = { config: { 'maxmemory-policy': 'noeviction' }, ...SPECS[seed % SPECS.length] };
  const resource = drawResource(spec, { finalizers: [] });
  return {
    nowMs: 0,
    random,
    names: nameObjects(resource.metadata.name, dataSetIdOf(resource)),
    resource,
    children: new Map(),
    nodes: ['node-0', 'node-1', 'node-2'].map((name) => ({
      name,
      up: true,
      partitioned: false,
      ready: true,
      notSeenSinceMs: undefined,
    })),
    pods: new Map(),
    volumes: new Map(),
    acknowledged: new Set(),
    excused: new Set(),
    nextWrite: 1,
    nextId: 0,
    log: [],
    violations: [],
    creations: 0,
    highestTerm: 0,
    twoPrimariesSinceMs: undefined,
    chosen: undefined,
  };
};

export const playSeed = (seed: number, plan: PlanWorld): SeedResult => {
  const world = makeWorld(seed);
  tell(world, `seed ${seed}: ${JSON.stringify(SPECS[seed % SPECS.length])}`);
  for (let tick = 0; tick < CALM_TICKS + CHAOS_TICKS; tick += 1) {
    if (tick > CALM_TICKS && world.random.chance(0.12)) injectFault(world);
    step(world, plan, world.random.chance(0.8));
    if (world.violations.length > 0) break;
  }
  endFaults(world);
  const asked: string[] = [];
  const startMs = world.nowMs;
  if (world.violations.length === 0) rest(world, plan, asked);
  const { violations, log, acknowledged, excused, nowMs } = world;
  return {
    seed,
    violations,
    log,
    acknowledged: acknowledged.size,
    excused: excused.size,
    restMs: nowMs - startMs,
    asked,
  };
};

/** One second: what Kubernetes and the Sentinels do, then the agent (unless it is away), replication and a client. */
const step = (world: World, plan: PlanWorld, agentActs: boolean): Plan | undefined => {
  world.nowMs += TICK_MS;
  runPods(world);
  for (const pod of world.pods.values()) runGuard(world, pod);
  excuseDestroyed(world);
  runSentinels(world);
  const made = agentActs ? runAgent(world, plan) : undefined;
  runReplication(world);
  runClient(world);
  checkLedger(world);
  checkRoles(world);
  return made;
};

const runAgent = (world: World, plan: PlanWorld): Plan | undefined => {
  const snapshot = observeWorld(world);
  if (snapshot === undefined) return undefined;
  const made = plan(snapshot, world.nowMs);
  if (made.actions.filter((action) => action.disruptive).length > 1) violate(world, 'a plan disrupts twice');
  for (const action of made.actions) {
    try {
      executeInWorld(world, action);
    } catch (error) {
      tell(world, `agent: ${action.kind} failed: ${error instanceof Error ? error.message : String(error)}`);
      return made;
    }
    if (world.random.chance(KILL_CHANCE)) {
      tell(world, 'the agent is killed');
      return undefined;
    }
  }
  keepStatus(world, made);
  return made;
};

/** What `report` writes, as far as a later plan reads it. */
const keepStatus = (world: World, { status }: Plan): void => {
  if (world.resource === undefined) return;
  const { pods, conditions: _, sentinels: __, ...states } = status;
  const generation = world.resource.metadata.generation ?? 0;
  const shards = [{ name: 'shard-0', pods }];
  world.resource = { ...world.resource, status: { ...states, shards, observedGeneration: generation } };
};

/** Until nothing is planned any more; when a person is asked he does what the condition says, at most a few times. */
const rest = (world: World, plan: PlanWorld, asked: string[]): void => {
  for (let quiet = 0, tick = 0; quiet < QUIET_TICKS; tick += 1) {
    const made = step(world, plan, true);
    if (world.violations.length > 0) return;
    quiet = made?.actions.length === 0 && made.status.phase === 'Ready' ? quiet + 1 : 0;
    if (tick < REST_TICKS) continue;
    if (asked.length >= MAX_ADVICE || !followAdvice(world, made, asked)) return explainUnrest(world, made);
    tick = 0;
  }
  checkPrimaryHasAll(world);
};

const explainUnrest = (world: World, made: Plan | undefined): void => {
  const ready = made?.status.conditions.find((condition) => condition.type === 'Ready');
  const actions = made?.actions.map((action) => action.kind).join(', ');
  violate(
    world,
    `not at rest after ${REST_TICKS} s: ${made?.status.phase} ${ready?.reason} ${ready?.message} [${actions}]`,
  );
};

const checkPrimaryHasAll = (world: World): void => {
  const primary = podsOf(world, 'redis').find((pod) => pod.name === world.resource?.status?.currentPrimary);
  const writes = redisOf(primary)?.writes ?? new Set<number>();
  const missing = [...world.acknowledged].filter((write) => !writes.has(write));
  if (missing.length > 0)
    violate(world, `at rest, ${missing.length} acknowledged writes are not at ${primary?.name ?? 'nobody'}`);
};
