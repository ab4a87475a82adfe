/**
 * A graceful deletion of the primary's pod, in calm and with a living agent, is a hand-over: before the process ends
 * another pod is primary, with every write that was acknowledged until then. Judged only where nothing else happened in
 * between, and once the agent had two whole passes: a fault may take the replica, the Sentinels or the agent away, and
 * then it dies as any primary dies.
 */
import {
  isReachable,
  isSlow,
  podsOf,
  redisOf,
  sentinelOf,
  violate,
  type SimEnding,
  type SimPod,
  type World,
} from './world-state.ts';

/** One that ends a repair which was due before, and one that hands over. */
const ENOUGH_PASSES = 2;

export const beginEnding = (world: World, pod: SimPod): SimEnding => {
  // A second pod that goes is no calm, for neither.
  disturbEndings(world);
  return {
    sinceMs: world.nowMs,
    calm: redisOf(pod)?.role === 'master' && isCalm(world, pod),
    passes: 0,
    excusedBefore: world.excused.size,
  };
};

/** Something else happens. */
export const disturbEndings = (world: World): void => {
  for (const { ending } of world.pods.values()) if (ending !== undefined) ending.calm = false;
};

/** A pass of the agent came to its end. */
export const countPass = (world: World): void => {
  for (const { ending } of world.pods.values()) if (ending !== undefined) ending.passes += 1;
};

/** Right before the process ends. */
export const checkEnding = (world: World, pod: SimPod): void => {
  const { ending } = pod;
  if (ending?.calm !== true) return;
  if (redisOf(pod)?.role === 'master') {
    if (ending.passes >= ENOUGH_PASSES) violate(world, `${pod.name} ends as primary, and nobody handed it over`);
    return;
  }
  const taken = redisOf(world.pods.get(world.chosen ?? ''))?.writes ?? new Set<number>();
  const missing = [...world.acknowledged].filter((write) => !taken.has(write)).length;
  const lost = missing + world.excused.size - ending.excusedBefore;
  if (lost > 0) violate(world, `${lost} acknowledged writes were lost when ${pod.name} was deleted in calm`);
};

/** Whole and at rest: every other data pod can take over, and all Sentinels watch this one. */
const isCalm = (world: World, primary: SimPod): boolean => {
  if (!isSettled(world) || world.nowMs < world.foreignUntilMs || world.clockJumpMs !== 0) return false;
  const others = podsOf(world, 'redis').filter((pod) => pod !== primary);
  return (
    others.length > 0 &&
    others.every((pod) => canTakeOver(world, pod, primary)) &&
    podsOf(world, 'sentinel').every((pod) => watches(world, pod, primary)) &&
    isReachable(world, primary) &&
    !isSlow(world, primary)
  );
};

const isSettled = ({ resource, unconfirmed }: World): boolean =>
  resource?.status?.phase === 'Ready' &&
  resource.metadata.deletionTimestamp === undefined &&
  resource.status.observedGeneration === resource.metadata.generation &&
  unconfirmed.size === 0;

const canTakeOver = (world: World, pod: SimPod, primary: SimPod): boolean => {
  const redis = redisOf(pod);
  if (redis === undefined || pod.terminating || !isReachable(world, pod) || isSlow(world, pod)) return false;
  return redis.linkUp && redis.masterHost === primary.ip && world.nowMs >= redis.fencedUntilMs;
};

const watches = (world: World, pod: SimPod, primary: SimPod): boolean => {
  const sentinel = sentinelOf(pod);
  if (pod.terminating || !isReachable(world, pod) || sentinel?.failoverUntilMs !== undefined) return false;
  const { monitor } = sentinel ?? {};
  const known = podsOf(world, 'redis').every((other) => other === primary || monitor?.knownHosts.has(other.ip));
  return monitor?.host === primary.ip && monitor.downSinceMs === undefined && known;
};
