/** How the simulated world is made, and how one second of it passes. */
import { dataSetIdOf, isHeldByFailure } from '#domain';
import type { Action, Plan, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { nameObjects } from '#manifests';
import { countPass } from './check-endings.ts';
import { checkLedger, checkOldVolumes, checkRoles, excuseDestroyed } from './check-invariants.ts';
import { checkAction, checkPlan } from './check-plan.ts';
import { drawResource } from './draw-snapshot.ts';
import { executeInWorld } from './execute-in-world.ts';
import { forgetExits, keepStatus } from './keep-status.ts';
import { observeWorld } from './observe-world.ts';
import { runGuard } from './run-guard.ts';
import { runPods } from './run-pods.ts';
import { runClient, runReplication } from './run-redis.ts';
import { runSentinels } from './run-sentinels.ts';
import { makeRandom } from './seeded-random.ts';
import { TICK_MS, tell } from './world-state.ts';
import type { World } from './world-state.ts';

/** The planner, given as a function, so that this library does not depend on it. */
export type PlanWorld = (snapshot: RedisClusterSnapshot, nowMs: number) => Plan;

export interface WorldOptions {
  readonly seed: number;
  readonly spec: Partial<RedisClusterSpec>;
  /** The chance that the agent is killed after any one action. */
  readonly killChance: number;
}

/** Three nodes, a RedisCluster that was just applied, and nothing else. */
export const makeWorld = ({ seed, spec, killChance }: WorldOptions): World => {
  const random = makeRandom(seed);
  const config = { 'maxmemory-policy': 'noeviction' };
  const resource = drawResource({ config, ...spec }, { finalizers: [] });
  return {
    nowMs: 0,
    random,
    killChance,
    names: nameObjects(resource.metadata.name, dataSetIdOf(resource)),
    resource,
    lastSpec: resource.spec,
    children: new Map(),
    nodes: ['node-0', 'node-1', 'node-2'].map((name) => ({
      name,
      up: true,
      partitioned: false,
      hidden: false,
      slow: false,
      ready: true,
      notSeenSinceMs: undefined,
    })),
    pods: new Map(),
    volumes: new Map(),
    returned: new Map(),
    leftBehind: new Set(),
    acknowledged: new Set(),
    unconfirmed: new Set(),
    excused: new Set(),
    nextWrite: 1,
    nextId: 0,
    log: [],
    violations: [],
    creations: 0,
    highestTerm: 0,
    twoPrimariesSinceMs: undefined,
    chosen: undefined,
    foreignUntilMs: 0,
    clockJumpMs: 0,
  };
};

/** One second: what Kubernetes and the Sentinels do, then the agent (unless it is away), replication and a client. */
export const stepWorld = (world: World, plan: PlanWorld, agentActs: boolean): Plan | undefined => {
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
  checkOldVolumes(world);
  return made;
};

const runAgent = (world: World, plan: PlanWorld): Plan | undefined => {
  const snapshot = observeWorld(world);
  if (snapshot === undefined) return undefined;
  const made = plan(snapshot, world.nowMs + world.clockJumpMs);
  checkPlan(world, made);
  world.clockJumpMs = 0;
  const done: Action[] = [];
  const failed: Action[] = [];
  for (const action of made.actions) {
    if (failed.some((one) => isHeldByFailure(action, one, false))) continue;
    try {
      checkAction(world, action);
      executeInWorld(world, action);
      done.push(action);
    } catch (error) {
      tell(world, `agent: ${action.kind} failed: ${error instanceof Error ? error.message : String(error)}`);
      failed.push(action);
      continue;
    }
    if (world.random.chance(world.killChance)) {
      tell(world, 'the agent is killed');
      forgetExits(world);
      return undefined;
    }
  }
  if (failed.length > 0) return made;
  keepStatus(world, made, done);
  countPass(world);
  return made;
};
