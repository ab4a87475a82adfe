/**
 * Redis' part: replicas connect, catch up or take a full copy; a client writes through the primary Service. A write is
 * taken only by a primary with a linked replica (min-replicas-to-write), and counts as acknowledged once a replica has it,
 * at once where no replica lags. What only the primary has is the loss that asynchronous replication declares.
 */
import { LABEL } from '#domain';
import { volumeClaimName } from '#manifests';
import {
  findByHost,
  isConnected,
  isFrozen,
  isLoading,
  isSlow,
  podsOf,
  redisOf,
  sizeOf,
  tell,
  violate,
} from './world-state.ts';
import type { SimPod, SimRedis, World } from './world-state.ts';

/** The chance that a replica on a slow node gets nothing in a second. */
const LAG_CHANCE = 0.6;
/** For the agent to see it twice and to end it, also when the agent itself was just restarted. */
const MAX_STANDSTILL_MS = 10_000;

export const runReplication = (world: World): void => {
  for (const pod of podsOf(world, 'redis')) {
    const redis = redisOf(pod);
    if (redis?.role === 'slave' && !isLoading(world, redis) && !isFrozen(world, pod)) follow(world, pod, redis);
  }
};

const follow = (world: World, pod: SimPod, redis: SimRedis): void => {
  const leader = findByHost(world, pod, redis.masterHost);
  const source = redisOf(leader);
  const answers = source !== undefined && !isLoading(world, source);
  const serves = answers && (source.role === 'master' || source.linkUp) && leader !== pod;
  if (serves) return copyFrom(world, { pod, redis, source });
  if (redis.linkUp) redis.linkDownSinceMs = world.nowMs;
  redis.linkUp = false;
};

const copyFrom = (world: World, copy: { pod: SimPod; redis: SimRedis; source: SimRedis }): void => {
  const { redis, source } = copy;
  // A replica that lags keeps its link and lacks the newest writes.
  if (redis.linkUp && isSlow(world, copy.pod) && continues(redis, source) && world.random.chance(LAG_CHANCE)) return;
  if (redis.linkUp && isPaused(world, redis) && continues(redis, source)) return standStill(world, redis, source);
  redis.unappliedSinceMs = undefined;
  if (!continues(redis, source)) tellFullCopy(world, copy);
  redis.linkUp = true;
  if (!copy.pod.terminating) world.leftBehind.delete(volumeClaimName(copy.pod.name));
  redis.linkDownSinceMs = undefined;
  redis.replicationId = source.replicationId;
  redis.secondReplicationId = source.secondReplicationId;
  redis.secondOffsetBytes = source.secondOffsetBytes;
  redis.offsetBytes = source.offsetBytes;
  redis.writes = new Set(source.writes);
  confirm(world, redis);
};

/** CLIENT PAUSE WRITE holds back what a replica is sent as well; its link stays up. Measured on Redis 7.0 and Valkey 9.1. */
const standStill = (world: World, redis: SimRedis, source: SimRedis): void => {
  if (redis.offsetBytes === source.offsetBytes) redis.unappliedSinceMs = undefined;
  else redis.unappliedSinceMs ??= world.nowMs;
  if (world.nowMs - (redis.unappliedSinceMs ?? world.nowMs) > MAX_STANDSTILL_MS) {
    violate(world, `a linked replica has applied nothing for more than ${MAX_STANDSTILL_MS} ms`);
  }
};

export const isPaused = (world: World, redis: SimRedis): boolean => world.nowMs < redis.fencedUntilMs;

/** What a replica holds is a promise from then on. */
const confirm = (world: World, { writes }: SimRedis): void => {
  for (const write of world.unconfirmed) {
    if (!writes.has(write)) continue;
    world.unconfirmed.delete(write);
    world.acknowledged.add(write);
  }
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
  isServing(world, redisOf(pod)) &&
  !isFrozen(world, pod) &&
  linkedReplicas(world, pod).length >= Number(redisOf(pod)?.config['min-replicas-to-write'] ?? 0);

const isServing = (world: World, redis: SimRedis | undefined): boolean =>
  redis?.role === 'master' && !isLoading(world, redis) && !isPaused(world, redis);

/** One client that follows the primary Service. */
export const runClient = (world: World): void => {
  const target = podsOf(world, 'redis').find((pod) => pod.labels[LABEL.role] === 'primary' && isConnected(world, pod));
  const redis = redisOf(target);
  if (target === undefined || redis === undefined || !takesWrites(world, target)) return;
  const write = world.nextWrite;
  world.nextWrite += 1;
  redis.writes.add(write);
  redis.offsetBytes += 100;
  const prompt = promptReplicas(world, target);
  for (const copy of prompt) {
    copy.writes.add(write);
    copy.offsetBytes = redis.offsetBytes;
  }
  // A deposed primary that cannot know it yet: what it takes is the price of the partition (max-lag + 2 s, 04).
  const deposed = world.chosen !== undefined && world.chosen !== target.name;
  const promised = prompt.length > 0 || sizeOf(world, 'redis') === 1 ? world.acknowledged : world.unconfirmed;
  (deposed ? world.excused : promised).add(write);
};

/** Linked replicas that lack nothing, are not slow and not paused: they have a write before its client has the answer. */
const promptReplicas = (world: World, primary: SimPod): readonly SimRedis[] => {
  const before = (redisOf(primary)?.offsetBytes ?? 0) - 100;
  const slow = new Set(
    podsOf(world, 'redis')
      .filter((pod) => isSlow(world, pod))
      .map(redisOf),
  );
  return linkedReplicas(world, primary).filter(
    (redis) => redis.offsetBytes >= before && !slow.has(redis) && !isPaused(world, redis),
  );
};

/** REPLICAOF NO ONE: the history goes on under a new id. */
export const promote = (world: World, redis: SimRedis, historyId: string): void => {
  if (redis.role === 'master') return;
  for (const write of world.unconfirmed) {
    if (redis.writes.has(write)) continue;
    world.unconfirmed.delete(write);
    world.excused.add(write);
  }
  redis.role = 'master';
  redis.masterHost = '';
  redis.linkUp = false;
  redis.linkDownSinceMs = undefined;
  redis.secondReplicationId = redis.replicationId;
  redis.secondOffsetBytes = redis.offsetBytes + 1;
  redis.replicationId = historyId;
  world.nextId += 1;
};

/** What the agent sends after a change of role. */
export const resume = (redis: SimRedis): void => {
  redis.fencedUntilMs = 0;
  redis.unappliedSinceMs = undefined;
};

/** REPLICAOF host port. */
export const demoteTo = (world: World, redis: SimRedis, host: string): void => {
  if (redis.role === 'slave' && redis.masterHost === host) return;
  redis.role = 'slave';
  redis.masterHost = host;
  if (redis.linkUp) redis.linkDownSinceMs = world.nowMs;
  redis.linkUp = false;
};
