/**
 * The simulated world as plain mutable state: nodes, pods, volumes, the processes in the pods and what the API server
 * holds. Time passes only by `tick`. Every write that a client was told "OK" for is in `acknowledged`, until a fault
 * destroyed its last copy or a Sentinel chose a successor without it: then it is in `excused`.
 */
import type { KubeObject, PodSnapshot, RedisClusterObject } from '#domain';
import type { ObjectNames } from '#manifests';
import type { SeededRandom } from './seeded-random.ts';

export interface SimNode {
  readonly name: string;
  up: boolean;
  /** Cut off from every other node and from the agent. */
  partitioned: boolean;
  /** Cut off from the agent alone. */
  hidden: boolean;
  /** Its disks and its network are slow: replicas lag, loading takes long. */
  slow: boolean;
  /** What the API server says; lags behind by the grace period. */
  ready: boolean;
  notSeenSinceMs: number | undefined;
}

export interface SimRedis {
  kind: 'redis';
  runId: string;
  role: 'master' | 'slave';
  masterHost: string;
  linkUp: boolean;
  linkDownSinceMs: number | undefined;
  replicationId: string;
  secondReplicationId: string;
  secondOffsetBytes: number | undefined;
  offsetBytes: number;
  writes: Set<number>;
  config: Record<string, string>;
  version: string;
  /** Reads its file until then: answers nobody's commands but says so. */
  loadingUntilMs: number;
  /** CLIENT PAUSE WRITE until then. */
  fencedUntilMs: number;
  /** Since when a linked replica has applied nothing of what it was sent. */
  unappliedSinceMs: number | undefined;
}

export interface SimMonitor {
  host: string;
  configEpoch: number;
  knownHosts: Set<string>;
  downSinceMs: number | undefined;
  settings: Record<string, string>;
}

export interface SimSentinel {
  kind: 'sentinel';
  id: string;
  monitor: SimMonitor | undefined;
  failoverUntilMs: number | undefined;
  lastFailoverMs: number;
}

/** A pod's way out: its preStop, and what a graceful end of a primary in calm has to keep (check-endings.ts). */
export interface SimEnding {
  readonly sinceMs: number;
  /** It served as primary in calm, and nothing else has happened since. */
  calm: boolean;
  /** Passes of the agent since then that came to their end. */
  passes: number;
  /** Writes that were given up before. */
  readonly excusedBefore: number;
}

export interface SimPod {
  readonly name: string;
  readonly ordinal: number;
  readonly component: PodSnapshot['component'];
  /** Of the pod template that it was made from. */
  readonly revision: string;
  readonly image: string;
  uid: string;
  readonly createdAtMs: number;
  /** The agent saw its process close the connection then, and has not been restarted since. */
  exitSeenAtMs: number | undefined;
  /** Its process is stopped (SIGSTOP) until then: the kernel holds its connections, and nobody gets an answer. */
  frozenUntilMs: number;
  ip: string;
  node: string;
  labels: Record<string, string>;
  terminating: boolean;
  /** When it was deleted, and what of it must then be true. */
  ending: SimEnding | undefined;
  restarts: number;
  /** Container start: the guard runs from here, redis-server from when it has decided. */
  startsAtMs: number;
  guardUntilMs: number | undefined;
  process: SimRedis | SimSentinel | undefined;
  /** A Sentinel's emptyDir: survives the container, not the pod. */
  kept: SimMonitor | undefined;
}

export interface World {
  nowMs: number;
  readonly random: SeededRandom;
  readonly killChance: number;
  readonly names: ObjectNames;
  resource: RedisClusterObject | undefined;
  /** What was applied last, for applying it again after a deletion. */
  lastSpec: RedisClusterObject['spec'];
  readonly children: Map<string, KubeObject>;
  readonly nodes: SimNode[];
  readonly pods: Map<string, SimPod>;
  /** By claim name: what the append-only file holds. */
  readonly volumes: Map<string, Set<number>>;
  /** By claim name: the stamp of the return (setting RETURNING) at which old files were set aside there. */
  readonly returned: Map<string, string>;
  /** By claim name: volumes whose pod was scaled away and that it has not copied over since. */
  readonly leftBehind: Set<string>;
  readonly acknowledged: Set<number>;
  /** Answered OK by the primary, and not on a replica yet: what asynchronous replication may lose. */
  readonly unconfirmed: Set<number>;
  readonly excused: Set<number>;
  nextWrite: number;
  nextId: number;
  /** Every step that changed something, for the story of a failing seed. */
  readonly log: string[];
  readonly violations: string[];
  creations: number;
  highestTerm: number;
  twoPrimariesSinceMs: number | undefined;
  /** Whom the planner, the Sentinels or a person made primary last; any other master is deposed. */
  chosen: string | undefined;
  /** Another agent owns the namespace until then. */
  foreignUntilMs: number;
  /** The agent's wall clock is wrong by this, for one pass. */
  clockJumpMs: number;
}

export const TICK_MS = 1_000;

export const childKey = (kind: string, name: string): string => `${kind}/${name}`;

export const tell = (world: World, text: string): void => {
  world.log.push(`${String(world.nowMs / 1_000).padStart(5)} s  ${text}`);
};

export const violate = (world: World, text: string): void => {
  world.violations.push(text);
  tell(world, `VIOLATION: ${text}`);
};

export const redisOf = (pod: SimPod | undefined): SimRedis | undefined =>
  pod?.process?.kind === 'redis' ? pod.process : undefined;

export const sentinelOf = (pod: SimPod | undefined): SimSentinel | undefined =>
  pod?.process?.kind === 'sentinel' ? pod.process : undefined;

export const podsOf = (world: World, component: SimPod['component']): readonly SimPod[] =>
  [...world.pods.values()].filter((pod) => pod.component === component).sort((a, b) => a.ordinal - b.ordinal);

export const nodeOf = (world: World, pod: SimPod): SimNode | undefined =>
  world.nodes.find((node) => node.name === pod.node);

/** The agent reaches the pod: its node runs and is not cut off. */
export const isReachable = (world: World, pod: SimPod): boolean => {
  const node = nodeOf(world, pod);
  return node !== undefined && node.up && !node.partitioned && !node.hidden && !isFrozen(world, pod);
};

/** Clients and other pods reach its node. */
export const isConnected = (world: World, pod: SimPod): boolean => {
  const node = nodeOf(world, pod);
  return node !== undefined && node.up && !node.partitioned;
};

export const isFrozen = (world: World, pod: SimPod): boolean => world.nowMs < pod.frozenUntilMs;

export const isSlow = (world: World, pod: SimPod): boolean => nodeOf(world, pod)?.slow === true;

export const isLoading = (world: World, redis: SimRedis): boolean => world.nowMs < redis.loadingUntilMs;

/** An image that no registry has. */
export const isMissingImage = (image: string): boolean => image.includes('no-such');

/** One pod reaches another: on the same node always, else when neither node is cut off. */
export const reaches = (world: World, from: SimPod, to: SimPod): boolean => {
  if (nodeOf(world, to)?.up !== true || nodeOf(world, from)?.up !== true) return false;
  return from.node === to.node || (isConnected(world, from) && isConnected(world, to));
};

/** The pod that has this address now, as seen from another pod, with a process behind it. */
export const findByHost = (world: World, from: SimPod, host: string): SimPod | undefined =>
  [...world.pods.values()].find(
    (pod) => pod.ip === host && pod.process !== undefined && !isFrozen(world, pod) && reaches(world, from, pod),
  );

export const makeId = (world: World, prefix: string): string => {
  world.nextId += 1;
  return `${prefix}-${world.nextId}`;
};

export const isPersistent = (world: World): boolean => world.lastSpec.storage?.type === 'PersistentVolume';

export const sizeOf = (world: World, component: SimPod['component']): number => {
  const name = component === 'redis' ? world.names.redis : world.names.sentinel;
  const set = world.children.get(childKey('StatefulSet', name)) as { spec?: { replicas?: number } } | undefined;
  return set?.spec?.replicas ?? 0;
};

/** A line of the settings that the pods of this moment would read; empty when there is none. */
export const settingOf = (world: World, name: string): string => {
  const data = world.children.get(childKey('ConfigMap', world.names.config))?.['data'] as
    { settings?: string } | undefined;
  return new RegExp(`^${name}=(.*)$`, 'm').exec(data?.settings ?? '')?.[1] ?? '';
};
