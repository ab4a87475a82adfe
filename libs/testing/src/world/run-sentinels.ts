/**
 * The Sentinels' part: subjective and objective down, an election among replicas they know, the switch with a higher
 * epoch, and the later conversion of masters and replicas that do not follow the chosen one.
 */
import { findByHost, isFrozen, makeId, podsOf, reaches, redisOf, sentinelOf, sizeOf, tell } from './world-state.ts';
import type { SimMonitor, SimPod, SimRedis, SimSentinel, World } from './world-state.ts';
import { demoteTo, promote } from './run-redis.ts';

const DOWN_AFTER_MS = 5_000;
/** A master that answers as a replica is given up after this (down-after and two INFO periods). */
const WRONG_ROLE_MS = 20_000;
const FAILOVER_PAUSE_MS = 30_000;
const CONVERT_MS = 8_000;

export const runSentinels = (world: World): void => {
  const pods = podsOf(world, 'sentinel').filter(
    (pod) => sentinelOf(pod)?.monitor !== undefined && !isFrozen(world, pod),
  );
  for (const pod of pods) watchMaster(world, pod);
  const leader = world.random.integer(Math.max(1, pods.length));
  for (const pod of [...pods.slice(leader), ...pods.slice(0, leader)]) maybeFailOver(world, pod, pods);
  for (const pod of pods) gossip(world, pod, pods);
};

const each = (pod: SimPod): { sentinel: SimSentinel; monitor: SimMonitor } | undefined => {
  const sentinel = sentinelOf(pod);
  return sentinel?.monitor === undefined ? undefined : { sentinel, monitor: sentinel.monitor };
};

const watchMaster = (world: World, pod: SimPod): void => {
  const found = each(pod);
  if (found === undefined) return;
  endFailover(world, found.sentinel);
  const { monitor } = found;
  const master = findByHost(world, pod, monitor.host);
  const redis = redisOf(master);
  if (redis?.role !== 'master') {
    monitor.downSinceMs ??= world.nowMs + (redis === undefined ? 0 : WRONG_ROLE_MS - DOWN_AFTER_MS);
    return;
  }
  monitor.downSinceMs = undefined;
  discoverReplicas(world, monitor);
  convertStrays(world, pod, monitor);
};

const endFailover = (world: World, sentinel: SimSentinel): void => {
  if (world.nowMs >= (sentinel.failoverUntilMs ?? Infinity)) sentinel.failoverUntilMs = undefined;
};

const discoverReplicas = (world: World, monitor: SimMonitor): void => {
  for (const other of podsOf(world, 'redis')) {
    const replica = redisOf(other);
    const follows = replica?.role === 'slave' && replica.masterHost === monitor.host && replica.linkUp;
    if (follows) monitor.knownHosts.add(other.ip);
  }
};

/** Known addresses that are master, or follow somebody else, are made replicas of the chosen one after a while. */
const convertStrays = (world: World, pod: SimPod, monitor: SimMonitor): void => {
  for (const host of monitor.knownHosts) {
    if (host === monitor.host) continue;
    const stray = redisOf(findByHost(world, pod, host));
    if (stray === undefined || (stray.role === 'slave' && stray.masterHost === monitor.host)) continue;
    if (world.nowMs % CONVERT_MS !== 0) continue;
    if (stray.role === 'master') excuseDiverged(world, stray, redisOf(findByHost(world, pod, monitor.host)));
    demoteTo(world, stray, monitor.host);
  }
};

/** What only the deposed primary took is lost when Sentinel makes it a replica: its own price, not the planner's doing. */
const excuseDiverged = (world: World, deposed: SimRedis, chosen: SimRedis | undefined): void => {
  for (const write of deposed.writes) if (chosen?.writes.has(write) !== true) excuse(world, write);
};

const excuse = (world: World, write: number): void => {
  if (world.acknowledged.delete(write)) world.excused.add(write);
};

const isDown = (world: World, monitor: SimMonitor | undefined, host: string): boolean =>
  monitor?.host === host && monitor.downSinceMs !== undefined && world.nowMs - monitor.downSinceMs >= DOWN_AFTER_MS;

const maybeFailOver = (world: World, pod: SimPod, pods: readonly SimPod[]): void => {
  const found = each(pod);
  if (found === undefined || !isDown(world, found.monitor, found.monitor.host)) return;
  const { sentinel, monitor } = found;
  const voters = pods.filter(
    (other) => reaches(world, pod, other) && isDown(world, sentinelOf(other)?.monitor, monitor.host),
  );
  if (voters.length * 2 <= sizeOf(world, 'sentinel')) return;
  const recent = pods.some((other) => world.nowMs - (sentinelOf(other)?.lastFailoverMs ?? 0) < FAILOVER_PAUSE_MS);
  if (recent) return;
  sentinel.lastFailoverMs = world.nowMs;
  const chosen = chooseReplica(world, pod, monitor);
  if (chosen === undefined) return;
  sentinel.failoverUntilMs = world.nowMs + 1_000;
  switchTo(world, chosen, voters);
};

/** SENTINEL FAILOVER at one of them: no vote, the best replica that it knows. False when it knows none. */
export const failOverAtOnce = (world: World, pod: SimPod): boolean => {
  const found = each(pod);
  const chosen = found === undefined ? undefined : chooseReplica(world, pod, found.monitor);
  if (found === undefined || chosen === undefined) return false;
  found.sentinel.lastFailoverMs = world.nowMs;
  found.sentinel.failoverUntilMs = world.nowMs + 1_000;
  switchTo(world, chosen, [pod]);
  return true;
};

const chooseReplica = (world: World, pod: SimPod, monitor: SimMonitor): SimPod | undefined =>
  [...monitor.knownHosts]
    .map((host) => findByHost(world, pod, host))
    .filter((other) => other !== undefined && other.component === 'redis' && redisOf(other)?.role === 'slave')
    .map((other) => other as SimPod)
    .sort((a, b) => (redisOf(b)?.offsetBytes ?? 0) - (redisOf(a)?.offsetBytes ?? 0))[0];

/** Writes that the chosen replica lacks are the price of Sentinel's own failover, not the planner's doing. */
const switchTo = (world: World, chosen: SimPod, voters: readonly SimPod[]): void => {
  const redis = redisOf(chosen);
  if (redis === undefined) return;
  for (const write of world.acknowledged) {
    if (!redis.writes.has(write)) excuse(world, write);
  }
  promote(world, redis, makeId(world, 'history'));
  world.chosen = chosen.name;
  tell(world, `the Sentinels promote ${chosen.name} with ${redis.writes.size} keys`);
  for (const voter of voters) {
    const monitor = sentinelOf(voter)?.monitor;
    if (monitor !== undefined) adopt(monitor, chosen.ip, monitor.configEpoch + 1);
  }
};

/** Another primary under a higher epoch. */
export const adopt = (monitor: SimMonitor, host: string, configEpoch: number): void => {
  monitor.knownHosts.add(monitor.host);
  monitor.knownHosts.delete(host);
  monitor.host = host;
  monitor.configEpoch = configEpoch;
  monitor.downSinceMs = undefined;
};

/** Hello messages: the view of the highest epoch spreads among Sentinels that reach each other. */
const gossip = (world: World, pod: SimPod, pods: readonly SimPod[]): void => {
  const own = sentinelOf(pod)?.monitor;
  if (own === undefined) return;
  for (const other of pods) {
    const theirs = sentinelOf(other)?.monitor;
    if (theirs === undefined || theirs.configEpoch >= own.configEpoch || !reaches(world, pod, other)) continue;
    if (redisOf(findByHost(world, pod, own.host)) === undefined) continue;
    if (theirs.host === own.host) theirs.configEpoch = own.configEpoch;
    else adopt(theirs, own.host, own.configEpoch);
  }
};
