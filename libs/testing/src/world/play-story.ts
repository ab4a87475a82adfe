/**
 * A life without chance: the world goes its way, and at given seconds something given happens. The log reads as a story,
 * which a test compares with the one it expects.
 */
import type { RedisClusterSpec } from '#domain';
import { deletePod, killNode, restartContainer, restoreClaim, reviveNode } from './run-pods.ts';
import { promote } from './run-redis.ts';
import { makeWorld, stepWorld } from './step-world.ts';
import type { PlanWorld } from './step-world.ts';
import { podsOf, redisOf, tell } from './world-state.ts';
import type { World } from './world-state.ts';

export type StoryEvent = (world: World) => void;

export interface Story {
  readonly spec: Partial<RedisClusterSpec>;
  readonly seconds: number;
  /** By the second at which it happens. */
  readonly events: Readonly<Record<number, StoryEvent>>;
  readonly seed?: number;
  /** The chance that the agent is killed after any one action. */
  readonly killChance?: number;
}

export interface StoryResult {
  readonly log: readonly string[];
  readonly violations: readonly string[];
  readonly world: World;
}

export const playStory = ({ spec, seconds, events, seed = 1, killChance = 0 }: Story, plan: PlanWorld): StoryResult => {
  const world = makeWorld({ seed, spec, killChance });
  for (let second = 1; second <= seconds; second += 1) {
    events[second]?.(world);
    stepWorld(world, plan, true);
  }
  return { log: world.log, violations: world.violations, world };
};

/** Things that happen, by what they happen to. Data pods are named by their ordinal. */
export const EVENT = {
  deletePod: (ordinal: number): StoryEvent => {
    return (world) =>
      podsOf(world, 'redis')
        .filter((pod) => pod.ordinal === ordinal)
        .forEach((pod) => deletePod(world, pod));
  },
  /** Its kubelet waits before it starts the container again. */
  crash: (ordinal: number, backOffSeconds = 0): StoryEvent => {
    return (world) => {
      tell(world, `the container of data pod ${ordinal} crashes`);
      for (const pod of podsOf(world, 'redis').filter((candidate) => candidate.ordinal === ordinal)) {
        restartContainer(world, pod);
        pod.startsAtMs += backOffSeconds * 1_000;
      }
    };
  },
  /** REPLICAOF NO ONE and a write, by somebody with the password. */
  promoteByHand: (ordinal: number): StoryEvent => {
    return (world) => {
      const redis = redisOf(podsOf(world, 'redis').find((pod) => pod.ordinal === ordinal));
      if (redis === undefined) return;
      tell(world, `somebody makes data pod ${ordinal} a primary by hand and writes to it`);
      promote(world, redis, 'by-hand');
      redis.offsetBytes += 50;
    };
  },
  deleteAllPods: (world: World): void => {
    for (const component of ['redis', 'sentinel'] as const)
      podsOf(world, component).forEach((pod) => deletePod(world, pod));
  },
  killNode: (name: string): StoryEvent => {
    return (world) => killNode(world, name);
  },
  reviveNode: (name: string): StoryEvent => {
    return (world) => reviveNode(world, name);
  },
  editSpec: (spec: Partial<RedisClusterSpec>): StoryEvent => {
    return (world) => {
      const { resource } = world;
      if (resource === undefined) return;
      const metadata = { ...resource.metadata, generation: (resource.metadata.generation ?? 1) + 1 };
      world.resource = { ...resource, metadata, spec: { ...resource.spec, ...spec } };
      tell(world, `the spec is edited: ${JSON.stringify(spec)}`);
    };
  },
  /** A claim under the name that a data pod would mount, made by hand: without labels, with the writes up to that number. */
  restoreClaim: (ordinal: number, lastWrite: number): StoryEvent => {
    return (world) => restoreClaim(world, ordinal, lastWrite);
  },
  deleteObject: (world: World): void => {
    const { resource } = world;
    if (resource === undefined) return;
    tell(world, 'the RedisCluster is deleted');
    world.resource = { ...resource, metadata: { ...resource.metadata, deletionTimestamp: '2026-01-03T00:00:00Z' } };
  },
  /** The same object again, with what it needs to find its data set; nothing of its status is left. */
  applyAgain: (world: World): void => {
    tell(world, 'the RedisCluster is applied again, with the same data set id');
    const { resource } = makeWorld({ seed: 1, spec: {}, killChance: 0 });
    if (resource !== undefined) world.resource = { ...resource, spec: world.lastSpec };
  },
} as const;
