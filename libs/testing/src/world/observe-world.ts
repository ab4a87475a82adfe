/** The snapshot that the agent's observer would gather from the simulated world right now. */
import { REDIS_PORT, WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT } from '#domain';
import type { PodSnapshot, RedisClusterSnapshot, RedisNodeFacts, SentinelFacts } from '#domain';
import { decodeRecord } from '#manifests';
import { childKey, isReachable, nodeOf, podsOf, reaches, redisOf, sentinelOf, sizeOf } from './world-state.ts';
import type { SimMonitor, SimPod, SimRedis, World } from './world-state.ts';
import { linkedReplicas } from './run-redis.ts';

export const observeWorld = (world: World): RedisClusterSnapshot | undefined => {
  if (world.resource === undefined) return undefined;
  const children = [...world.children.values()];
  const recordMap = world.children.get(childKey('ConfigMap', world.names.record));
  const record = recordMap === undefined ? undefined : decodeRecord(recordMap);
  const data = podsOf(world, 'redis');
  const sentinels = podsOf(world, 'sentinel');
  return {
    observedAtMs: world.nowMs,
    resource: world.resource,
    crdTerminating: false,
    ownsNamespace: true,
    scopeOwner: 'CLUSTER',
    children,
    ...(record === undefined ? {} : { record }),
    pods: [...data, ...sentinels].map((pod) => describePod(world, pod)),
    redis: Object.fromEntries(data.map((pod) => [pod.name, probeRedis(world, pod)])),
    sentinels: Object.fromEntries(sentinels.map((pod) => [pod.name, probeSentinel(world, pod)])),
    nodes: world.nodes.map(({ name, ready }) => ({ name, ready })),
    credentialsPresent: world.children.has(childKey('Secret', world.names.credentialsSecret)),
  };
};

const describePod = (world: World, pod: SimPod): PodSnapshot => ({
  name: pod.name,
  ordinal: pod.ordinal,
  component: pod.component,
  uid: pod.uid,
  ip: pod.ip,
  node: pod.node,
  phase: 'Running',
  ready: nodeOf(world, pod)?.ready === true && isReadyInside(pod),
  terminating: pod.terminating,
  labels: pod.labels,
  annotations: {},
  restarts: pod.restarts,
  controllerRevision: pod.revision,
  nodeReady: nodeOf(world, pod)?.ready === true,
});

/** The readiness probe: a primary, or a linked replica; any running Sentinel. */
const isReadyInside = (pod: SimPod): boolean => {
  const redis = redisOf(pod);
  return redis === undefined ? sentinelOf(pod) !== undefined : redis.role === 'master' || redis.linkUp;
};

const silent = (reason: 'TIMEOUT' | 'REFUSED'): Extract<RedisNodeFacts, { reachable: false }> => ({
  reachable: false,
  reason,
  message: 'No answer.',
});

const probeRedis = (world: World, pod: SimPod): RedisNodeFacts => {
  if (!isReachable(world, pod)) return silent('TIMEOUT');
  const redis = redisOf(pod);
  if (redis === undefined) return silent('REFUSED');
  return {
    reachable: true,
    role: redis.role,
    runId: redis.runId,
    version: '8.0.2',
    engine: 'Redis',
    replicationId: redis.replicationId,
    secondReplicationId: redis.secondReplicationId,
    offsetBytes: redis.offsetBytes,
    ...(redis.role === 'slave' ? describeLink(world, redis) : {}),
    syncInProgress: false,
    connectedReplicas: linkedReplicas(world, pod).length,
    loading: false,
    keys: redis.writes.size,
    config: redis.config,
  };
};

const describeLink = (world: World, redis: SimRedis): Partial<Extract<RedisNodeFacts, { reachable: true }>> => ({
  masterHost: redis.masterHost,
  masterPort: redis.masterHost === WAITING_PRIMARY_HOST ? WAITING_PRIMARY_PORT : REDIS_PORT,
  linkUp: redis.linkUp,
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
