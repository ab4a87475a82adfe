/**
 * What must hold after every step, whatever happened: no acknowledged write disappears except by a fault that destroyed
 * its last copy, the primary Service never selects two pods, and two primaries that both take writes overlap at most as
 * long as an isolated one needs to fence itself.
 */
import { LABEL } from '#domain';
import { volumeClaimName } from '#manifests';
import { takesWrites } from './run-redis.ts';
import { isPersistent, podsOf, redisOf, sizeOf, violate } from './world-state.ts';
import type { SimPod, SimRedis, World } from './world-state.ts';

/** max-lag 10 s and 2 s (04). */
const MAX_OVERLAP_MS = 12_000;

const survives = (world: World): ReadonlySet<number> => {
  const copies = new Set<number>();
  for (const pod of podsOf(world, 'redis')) for (const write of redisOf(pod)?.writes ?? []) copies.add(write);
  if (!isPersistent(world)) return copies;
  for (const [claim, writes] of world.volumes) {
    const running = podsOf(world, 'redis').some((pod) => volumeClaimName(pod.name) === claim && redisOf(pod));
    if (!running) for (const write of writes) copies.add(write);
  }
  return copies;
};

/** After faults: what has no copy left was destroyed by them, which the spec declares (no persistence, one pod). */
export const excuseDestroyed = (world: World): void => {
  const copies = survives(world);
  for (const write of world.acknowledged) {
    if (copies.has(write)) continue;
    world.acknowledged.delete(write);
    world.excused.add(write);
  }
};

/**
 * What only the former primary has when another is promoted in its place: the lag of asynchronous replication. A write that
 * anybody else holds is no lag; promoting without it is the planner's fault.
 */
export const excuseLag = (world: World, promoted: string, redis: SimRedis): void => {
  const former = world.chosen;
  if (former === undefined || former === promoted) return;
  const elsewhere = heldBesides(world, former);
  for (const write of world.acknowledged) {
    if (redis.writes.has(write) || elsewhere.has(write)) continue;
    world.acknowledged.delete(write);
    world.excused.add(write);
  }
};

const heldBesides = (world: World, former: string): ReadonlySet<number> => {
  const held = new Set<number>();
  for (const pod of podsOf(world, 'redis')) {
    if (pod.name === former) continue;
    const writes = redisOf(pod)?.writes ?? world.volumes.get(volumeClaimName(pod.name)) ?? [];
    for (const write of writes) held.add(write);
  }
  return held;
};

/** After the agent and replication had their turn: nothing of what was acknowledged may be gone. */
export const checkLedger = (world: World): void => {
  const copies = survives(world);
  const lost = [...world.acknowledged].filter((write) => !copies.has(write));
  if (lost.length === 0) return;
  violate(world, `${lost.length} acknowledged writes are gone, the first is ${lost[0]}`);
  for (const write of lost) world.acknowledged.delete(write);
};

/** Nobody is primary by what a pod left on its volume when it was scaled away. */
export const checkOldVolumes = (world: World): void => {
  for (const pod of podsOf(world, 'redis')) {
    const claim = volumeClaimName(pod.name);
    if (pod.terminating || redisOf(pod)?.role !== 'master' || !world.leftBehind.delete(claim)) continue;
    violate(world, `${pod.name} is primary by a volume of an earlier membership`);
  }
};

/** With exactly two pods neither waits for the other while a rollout is on (docs/reference/rollouts.md): no bound is declared then. */
const isRollingTwo = (world: World, writable: readonly SimPod[]): boolean =>
  sizeOf(world, 'redis') === 2 && writable.some((pod) => redisOf(pod)?.config['min-replicas-to-write'] === '0');

export const checkRoles = (world: World): void => {
  const labelled = podsOf(world, 'redis').filter((pod) => pod.labels[LABEL.role] === 'primary');
  if (labelled.length > 1) violate(world, `${labelled.map((pod) => pod.name).join(' and ')} are both labelled primary`);
  // Cut off ones count too: with half of the size asked for, of two sides at most one has enough replicas.
  const writable = podsOf(world, 'redis').filter((pod) => takesWrites(world, pod));
  // Once a person was told, it lasts until that person has decided.
  const told = world.resource?.status?.phase === 'ActionRequired';
  if (writable.length < 2 || told || isRollingTwo(world, writable)) world.twoPrimariesSinceMs = undefined;
  else world.twoPrimariesSinceMs ??= world.nowMs;
  const overlapMs = world.nowMs - (world.twoPrimariesSinceMs ?? world.nowMs);
  if (overlapMs > MAX_OVERLAP_MS) violate(world, `two primaries took writes for ${overlapMs} ms`);
};
