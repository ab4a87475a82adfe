/**
 * The startup guard of libs/manifests (start-redis-script.ts), in the simulation's terms: whom the Sentinel majority or
 * the peers name, whether this pod has data, and how long it may wait before it becomes a waiting replica.
 */
import { WAITING_PRIMARY_HOST } from '#domain';
import { volumeClaimName } from '#manifests';
import {
  childKey,
  findByHost,
  isMissingImage,
  isPersistent,
  isSlow,
  makeId,
  nodeOf,
  podsOf,
  reaches,
  redisOf,
  sentinelOf,
  settingOf,
  sizeOf,
  tell,
} from './world-state.ts';
import type { SimPod, World } from './world-state.ts';

/** Sentinel's down-after and ten seconds. */
const PATIENCE_MS = 15_000;

/** How long a slow disk takes to read a file. */
const SLOW_LOADING_MS = 8_000;

/** `…/redis:8.0` runs 8.0.2. */
const versionOf = (image: string): string => `${/:(\d+\.\d+)/.exec(image)?.[1] ?? '8.0'}.2`;

type Decision =
  | { readonly start: 'primary' }
  | { readonly start: 'replica'; readonly host: string }
  | { readonly start: 'later'; readonly fallback: string };

export const runGuard = (world: World, pod: SimPod): void => {
  if (!mayStart(world, pod)) return;
  if (pod.component === 'sentinel') return startSentinel(pod);
  setLeftAside(world, pod);
  pod.guardUntilMs ??= world.nowMs + PATIENCE_MS;
  const decision = decide(world, pod);
  if (decision.start === 'primary') return startRedis(world, pod, undefined);
  if (decision.start === 'replica') return startRedis(world, pod, decision.host);
  if (world.nowMs >= pod.guardUntilMs) startRedis(world, pod, decision.fallback);
};

const mayStart = (world: World, pod: SimPod): boolean =>
  pod.process === undefined &&
  world.nowMs >= pod.startsAtMs &&
  !pod.terminating &&
  nodeOf(world, pod)?.up === true &&
  !isMissingImage(pod.image) &&
  canMount(world);

/** A kubelet starts no container while a ConfigMap that it mounts is missing. */
const canMount = (world: World): boolean =>
  [world.names.config, world.names.scripts].every((name) => world.children.has(childKey('ConfigMap', name)));

const startSentinel = (pod: SimPod): void => {
  pod.process = { kind: 'sentinel', id: pod.name, monitor: pod.kept, failoverUntilMs: undefined, lastFailoverMs: -1e9 };
  pod.kept = undefined;
};

/** Once for each return: what was copied since is no old state. */
const setLeftAside = (world: World, pod: SimPod): void => {
  const claim = volumeClaimName(pod.name);
  if (modeOf(world) === 'Standalone' || settingOf(world, 'RECORDED_PRIMARY') === pod.name) return;
  const stamp = new RegExp(`(?:^| )${pod.ordinal}:(\\d+)`).exec(settingOf(world, 'RETURNING'))?.[1];
  if (stamp === undefined || Number(world.returned.get(claim) ?? 0) >= Number(stamp)) return;
  const left = world.volumes.get(claim)?.size ?? 0;
  if (left > 0) tell(world, `${pod.name} sets ${left} keys of an earlier membership aside`);
  world.volumes.set(claim, new Set());
  world.leftBehind.delete(claim);
  world.returned.set(claim, stamp);
};

const startRedis = (world: World, pod: SimPod, masterHost: string | undefined): void => {
  pod.guardUntilMs = undefined;
  pod.exitSeenAtMs = undefined;
  const writes = new Set(isPersistent(world) ? world.volumes.get(volumeClaimName(pod.name)) : []);
  pod.process = {
    kind: 'redis',
    runId: makeId(world, 'run'),
    role: masterHost === undefined ? 'master' : 'slave',
    masterHost: masterHost ?? '',
    linkUp: false,
    linkDownSinceMs: undefined,
    replicationId: makeId(world, 'history'),
    secondReplicationId: '0'.repeat(40),
    secondOffsetBytes: undefined,
    offsetBytes: 0,
    writes,
    config: { 'maxmemory-policy': 'noeviction', 'min-replicas-to-write': minReplicasOf(world) },
    version: versionOf(pod.image),
    loadingUntilMs: writes.size > 0 && isSlow(world, pod) ? world.nowMs + SLOW_LOADING_MS : 0,
    fencedUntilMs: 0,
    unappliedSinceMs: undefined,
  };
  tell(
    world,
    `${pod.name} starts as ${masterHost === undefined ? 'primary' : `replica of ${masterHost}`} with ${writes.size} keys`,
  );
};

const hasData = (world: World, pod: SimPod): boolean =>
  isPersistent(world) && (world.volumes.get(volumeClaimName(pod.name))?.size ?? 0) > 0;

const waiting: Decision = { start: 'replica', host: WAITING_PRIMARY_HOST };

const decide = (world: World, pod: SimPod): Decision => {
  const mode = modeOf(world);
  if (mode === 'Standalone') return { start: 'primary' };
  return mode === 'Sentinel' ? decideBySentinels(world, pod) : decideByPeers(world, pod);
};

/** As the ConfigMap of the moment tells a pod that starts. */
const modeOf = (world: World): string => settingOf(world, 'MODE');

/** As redis.conf of the moment has it. */
const minReplicasOf = (world: World): string => {
  const data = world.children.get(childKey('ConfigMap', world.names.config))?.['data'] as
    { 'redis.conf'?: string } | undefined;
  return /^min-replicas-to-write (\d+)$/m.exec(data?.['redis.conf'] ?? '')?.[1] ?? '0';
};

const decideBySentinels = (world: World, pod: SimPod): Decision => {
  const majority = Math.floor(sizeOf(world, 'sentinel') / 2) + 1;
  const views = podsOf(world, 'sentinel')
    .filter((other) => reaches(world, pod, other))
    .map(sentinelOf)
    .filter((sentinel) => sentinel !== undefined);
  if (views.length < majority) return waiting;
  const monitors = views.map((view) => view.monitor).filter((monitor) => monitor !== undefined);
  if (views.length - monitors.length >= majority) return waiting;
  const named = monitors
    .map((monitor) => monitor.host)
    .find((host, _, all) => all.filter((one) => one === host).length >= majority);
  if (named === undefined) return { start: 'later', fallback: WAITING_PRIMARY_HOST };
  if (named !== pod.ip) {
    const leader = redisOf(findByHost(world, pod, named));
    return leader?.role === 'master' ? { start: 'replica', host: named } : { start: 'later', fallback: named };
  }
  const busy = views.some((view) => view.failoverUntilMs !== undefined) || countDown(world, monitors) >= majority;
  return !busy && hasData(world, pod) ? { start: 'primary' } : { start: 'later', fallback: WAITING_PRIMARY_HOST };
};

const countDown = (world: World, monitors: readonly { downSinceMs: number | undefined }[]): number =>
  monitors.filter(({ downSinceMs }) => downSinceMs !== undefined && world.nowMs - downSinceMs >= 5_000).length;

/** It may be a deposed one: the pod that the record names follows nobody over its own data. */
const followLone = (world: World, pod: SimPod, only: SimPod): Decision =>
  settingOf(world, 'RECORDED_PRIMARY') === pod.name && hasData(world, pod)
    ? waiting
    : { start: 'replica', host: only.ip };

const decideByPeers = (world: World, pod: SimPod): Decision => {
  const peers = podsOf(world, 'redis').filter((other) => other.name !== pod.name);
  const answering = peers.filter((other) => redisOf(other) !== undefined && reaches(world, pod, other));
  const masters = answering.filter((other) => redisOf(other)?.role === 'master');
  const [only] = masters;
  const isFollowed = answering.some((other) => redisOf(other)?.masterHost === pod.ip);
  if (only !== undefined && masters.length === 1) return isFollowed ? waiting : followLone(world, pod, only);
  if (masters.length > 1) return waiting;
  if (answering.length < sizeOf(world, 'redis') - 1 || answering.length === 0) return waiting;
  const followed = answering.map((other) => redisOf(other)?.masterHost);
  const mine = followed.filter((host) => host === pod.ip).length;
  const idle = followed.filter((host) => host === WAITING_PRIMARY_HOST).length;
  return mine > 0 && mine + idle === answering.length && hasData(world, pod) ? { start: 'primary' } : waiting;
};
