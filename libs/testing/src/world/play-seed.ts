/**
 * One seeded life of a data set: it is created, suffers, comes to rest, and must then be whole: every acknowledged write
 * readable at the primary, the phase Ready, and a pass that plans nothing.
 */
import type { Plan, RedisClusterSpec } from '#domain';
import { followAdvice } from './follow-advice.ts';
import { endFaults, injectFault } from './inject-fault.ts';
import { makeWorld, stepWorld } from './step-world.ts';
import type { PlanWorld } from './step-world.ts';
import { podsOf, redisOf, tell, violate } from './world-state.ts';
import type { World } from './world-state.ts';

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
  { mode: 'Sentinel', size: 5, storage: { type: 'PersistentVolume', size: '1Gi' } },
  { mode: 'Replication', size: 4, storage: { type: 'PersistentVolume', size: '1Gi' } },
  { mode: 'Standalone', storage: { type: 'PersistentVolume', size: '1Gi' } },
];

export const playSeed = (seed: number, plan: PlanWorld): SeedResult => {
  const spec = SPECS[seed % SPECS.length] ?? {};
  const world = makeWorld({ seed, spec, killChance: KILL_CHANCE });
  tell(world, `seed ${seed}: ${JSON.stringify(SPECS[seed % SPECS.length])}`);
  for (let tick = 0; tick < CALM_TICKS + CHAOS_TICKS; tick += 1) {
    if (tick > CALM_TICKS && world.random.chance(0.12)) injectFault(world);
    stepWorld(world, plan, world.random.chance(0.8));
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

/** Until nothing is planned any more; when a person is asked he does what the condition says, at most a few times. */
const rest = (world: World, plan: PlanWorld, asked: string[]): void => {
  for (let quiet = 0, tick = 0; quiet < QUIET_TICKS; tick += 1) {
    const made = stepWorld(world, plan, true);
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
