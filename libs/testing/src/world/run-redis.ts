/**
 * Redis' part: replicas connect, catch up or take a full copy; a client writes through the primary Service. A write is
 * acknowledged only by a primary that would take it (min-replicas-to-write 1), and is on every linked replica by then.
 * Not modelled: the lag of asynchronous replication, whose loss belongs to the declared policy and not to the planner.
 */
import { LABEL } from '#domain';
import { findByHost, isReachable, podsOf, redisOf, sizeOf, tell, violate } from './world-state.ts';
import type { SimPod, SimRedis, World } from './world-state.ts';

export const runReplication = (world: World): void => {
  for (const pod of podsOf(world, 'redis')) {
    const redis = redisOf(pod);
    if (redis?.role === 'slave') follow(world, pod, redis);
  }
};

const follow = (world: World, pod: SimPod, redis: SimRedis): void => {
  const leader = findByHost(world, pod, redis.masterHost);
  const source = redisOf(leader);
  const serves = source !== undefined && (source.role === 'master' || source.linkUp) && leader !== pod;
  if (serves) return copyFrom(world, { pod, redis, source });
  if (redis.linkUp) redis.linkDownSinceMs = world.nowMs;
  redis.linkUp = false;
};

const copyFrom = (world: World, copy: { pod: SimPod; redis: SimRedis; source: SimRedis }): void => {
  const { redis, source } = copy;
  if (!continues(redis, source)) tellFullCopy(world, copy);
  redis.linkUp = true;
  redis.linkDownSinceMs = undefined;
  redis.replicationId = source.replicationId;
  redis.secondReplicationId = source.secondReplicationId;
  redis.offsetBytes = source.offsetBytes;
  redis.writes = new Set(source.writes);
};

/** The replica is at an earlier point of its source's history: what it lacks is sent, nothing is dropped. */
const continues = (redis: SimRedis, source: SimRedis): boolean =>
  [source.replicationId, source.secondReplicationId].includes(redis.replicationId) &&
  redis.offsetBytes <= source.offsetBytes;

const tellFullCopy = (
  world: World,
  { pod, redis, source }: { pod: SimPod; redis: SimRedis; source: SimRedis },
): void => {
  const dropped = [...redis.writes].filter((write) => !source.writes.has(write)).length;
  if (dropped > 0) tell(world, `${pod.name} takes a full copy and drops ${dropped} keys`);
  if (source.writes.size === 0 && redis.writes.size > 0) {
    violate(world, `${pod.name} with ${redis.writes.size} keys was erased by an empty primary`);
  }
};

export const linkedReplicas = (world: World, primary: SimPod): readonly SimRedis[] =>
  podsOf(world, 'redis')
    .filter((pod) => findByHost(world, pod, primary.ip) === primary)
    .map(redisOf)
    .filter((redis) => redis !== undefined && redis.role === 'slave' && redis.masterHost === primary.ip && redis.linkUp)
    .map((redis) => redis as SimRedis);

/** True when this process would answer a write with OK. */
export const takesWrites = (world: World, pod: SimPod): boolean =>
  redisOf(pod)?.role === 'master' && (sizeOf(world, 'redis') === 1 || linkedReplicas(world, pod).length > 0);

/** One client that follows the primary Service. */
export const runClient = (world: World): void => {
  const target = podsOf(world, 'redis').find((pod) => pod.labels[LABEL.role] === 'primary' && isReachable(world, pod));
  const redis = redisOf(target);
  if (target === undefined || redis === undefined || !takesWrites(world, target)) return;
  const write = world.nextWrite;
  world.nextWrite += 1;
  for (const copy of [redis, ...linkedReplicas(world, target)]) {
    copy.writes.add(write);
    copy.offsetBytes = redis.offsetBytes + (copy === redis ? 100 : 0);
  }
  // A deposed primary that cannot know it yet: what it takes is the price of the partition (max-lag + 2 s, 04).
  const deposed = world.chosen !== undefined && world.chosen !== target.name;
  (deposed ? world.excused : world.acknowledged).add(write);
};

/** REPLICAOF NO ONE: the history goes on under a new id. */
export const promote = (world: World, redis: SimRedis, historyId: string): void => {
  if (redis.role === 'master') return;
  redis.role = 'master';
  redis.masterHost = '';
  redis.linkUp = false;
  redis.linkDownSinceMs = undefined;
  redis.secondReplicationId = redis.replicationId;
  redis.replicationId = historyId;
  world.nextId += 1;
};

/** REPLICAOF host port. */
export const demoteTo = (world: World, redis: SimRedis, host: string): void => {
  if (redis.role === 'slave' && redis.masterHost === host) return;
  redis.role = 'slave';
  redis.masterHost = host;
  if (redis.linkUp) redis.linkDownSinceMs = world.nowMs;
  redis.linkUp = false;
};
