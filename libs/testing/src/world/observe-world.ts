/** The snapshot that the agent's observer would gather from the simulated world right now. */
import { ANNOTATION, LABEL, REDIS_PORT, WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT } from '#domain';
import type { KubeObject, PodSnapshot, RedisClusterSnapshot, RedisNodeFacts, SeenExit, SentinelFacts } from '#domain';
import { CURRENT_RENDER_VERSION, decodeRecord, podName, volumeClaimName } from '#manifests';
import {
  childKey,
  isLoading,
  isMissingImage,
  isReachable,
  nodeOf,
  podsOf,
  reaches,
  redisOf,
  sentinelOf,
  sizeOf,
} from './world-state.ts';
import type { SimMonitor, SimPod, SimRedis, World } from './world-state.ts';
import { linkedReplicas } from './run-redis.ts';

export const observeWorld = (world: World): RedisClusterSnapshot | undefined => {
  if (world.resource === undefined) return undefined;
  const children = [...world.children.values()].filter((child) => isFound(world, child));
  const recordMap = world.children.get(childKey('ConfigMap', world.names.record));
  const record = recordMap === undefined ? undefined : decodeRecord(recordMap);
  const data = podsOf(world, 'redis');
  const sentinels = podsOf(world, 'sentinel');
  return {
    observedAtMs: world.nowMs,
    resource: world.resource,
    crdTerminating: false,
    ownsNamespace: world.nowMs >= world.foreignUntilMs,
    scopeOwner: world.nowMs >= world.foreignUntilMs ? 'CLUSTER' : 'NAMESPACE/shop',
    children,
    ...(record === undefined ? {} : { record }),
    pods: [...data, ...sentinels].map((pod) => describePod(world, pod)),
    redis: Object.fromEntries(data.map((pod) => [pod.name, probeRedis(world, pod)])),
    sentinels: Object.fromEntries(sentinels.map((pod) => [pod.name, probeSentinel(world, pod)])),
    nodes: world.nodes.map(({ name, ready, notSeenSinceMs }) => ({
      name,
      ready,
      heardAtMs: notSeenSinceMs ?? world.nowMs,
    })),
    credentialsPresent: world.children.has(childKey('Secret', world.names.credentialsSecret)),
  };
};

/** By the label, or as a claim by the name under which a data pod would mount it (claim-reader.ts of the agent). */
const isFound = (world: World, { kind, metadata }: KubeObject): boolean => {
  if (metadata.labels?.[LABEL.dataSet] === world.names.hash) return true;
  if (kind !== 'PersistentVolumeClaim') return false;
  const size = world.resource?.spec.size ?? 3;
  const names = Array.from({ length: size }, (_, ordinal) => volumeClaimName(podName(world.names.redis, ordinal)));
  return names.includes(metadata.name);
};

const describePod = (world: World, pod: SimPod): PodSnapshot => ({
  name: pod.name,
  ordinal: pod.ordinal,
  component: pod.component,
  uid: pod.uid,
  createdAtMs: pod.createdAtMs,
  ip: pod.ip,
  node: pod.node,
  phase: isMissingImage(pod.image) ? 'Pending' : 'Running',
  ...(isMissingImage(pod.image) ? { waitingReason: 'ImagePullBackOff: no such image' } : {}),
  image: pod.image,
  ready: nodeOf(world, pod)?.ready === true && isReadyInside(world, pod),
  terminating: pod.terminating,
  labels: pod.labels,
  annotations: { [ANNOTATION.renderVersion]: String(CURRENT_RENDER_VERSION) },
  restarts: pod.restarts,
  controllerRevision: pod.revision,
  nodeReady: nodeOf(world, pod)?.ready === true,
});

/** The readiness probe: a primary, or a linked replica; any running Sentinel. */
const isReadyInside = (world: World, pod: SimPod): boolean => {
  const redis = redisOf(pod);
  if (redis === undefined) return sentinelOf(pod) !== undefined;
  return !isLoading(world, redis) && (redis.role === 'master' || redis.linkUp);
};

const silent = (reason: 'TIMEOUT' | 'REFUSED'): Extract<RedisNodeFacts, { reachable: false }> => ({
  reachable: false,
  reason,
  message: 'No answer.',
});

const probeRedis = (world: World, pod: SimPod): RedisNodeFacts => {
  if (!isReachable(world, pod)) return silent('TIMEOUT');
  const redis = redisOf(pod);
  if (redis === undefined) return { ...silent('REFUSED'), ...describeExit(pod) };
  return {
    reachable: true,
    role: redis.role,
    runId: redis.runId,
    version: redis.version,
    engine: 'Redis',
    replicationId: redis.replicationId,
    secondReplicationId: redis.secondReplicationId,
    ...(redis.secondOffsetBytes === undefined ? {} : { secondOffsetBytes: redis.secondOffsetBytes }),
    offsetBytes: redis.offsetBytes,
    ...(redis.role === 'slave' ? describeLink(world, redis) : {}),
    syncInProgress: false,
    connectedReplicas: linkedReplicas(world, pod).length,
    loading: isLoading(world, redis),
    keys: redis.writes.size,
    config: redis.config,
  };
};

/** The port of a container that ended stays shut until the guard has decided. */
const describeExit = ({ exitSeenAtMs }: SimPod): { exit?: SeenExit } =>
  exitSeenAtMs === undefined ? {} : { exit: { closedAtMs: exitSeenAtMs, refusedTwice: true } };

const describeLink = (world: World, redis: SimRedis): Partial<Extract<RedisNodeFacts, { reachable: true }>> => ({
  masterHost: redis.masterHost,
  masterPort: redis.masterHost === WAITING_PRIMARY_HOST ? WAITING_PRIMARY_PORT : REDIS_PORT,
  linkUp: redis.linkUp,
  ...(redis.unappliedSinceMs === undefined ? {} : { unappliedForMs: world.nowMs - redis.unappliedSinceMs }),
  ...(redis.linkDownSinceMs === undefined ? {} : { linkDownSinceMs: world.nowMs - redis.linkDownSinceMs }),
});

const probeSentinel = (world: World, pod: SimPod): SentinelFacts => {
  if (!isReachable(world, pod)) return silent('TIMEOUT');
  const sentinel = sentinelOf(pod);
  if (sentinel === undefined) return silent('REFUSED');
  const { monitor } = sentinel;
  const idle = { reachable: true, myId: sentinel.id, configEpoch: 0, failoverInProgress: false } as const;
  if (monitor === undefined) {
    return { ...idle, monitors: false, knownReplicas: 0, otherSentinels: 0, quorumOk: false, settings: {} };
  }
  return {
    ...idle,
    failoverInProgress: sentinel.failoverUntilMs !== undefined,
    ...describeMonitor(world, pod, monitor),
  };
};

const describeMonitor = (
  world: World,
  pod: SimPod,
  monitor: SimMonitor,
): Omit<Extract<SentinelFacts, { reachable: true }>, 'reachable' | 'myId' | 'failoverInProgress'> => {
  const peers = podsOf(world, 'sentinel').filter(
    (other) => other !== pod && sentinelOf(other)?.monitor?.host === monitor.host && reaches(world, pod, other),
  );
  const hosts = [...monitor.knownHosts].filter((host) => host !== monitor.host);
  return {
    monitors: true,
    primaryHost: monitor.host,
    primaryPort: REDIS_PORT,
    flags: monitor.downSinceMs === undefined ? 'master' : 'master,s_down',
    knownReplicas: hosts.length,
    replicaHosts: hosts,
    otherSentinels: peers.length,
    configEpoch: monitor.configEpoch,
    quorumOk: (peers.length + 1) * 2 > sizeOf(world, 'sentinel'),
    settings: monitor.settings,
  };
};
