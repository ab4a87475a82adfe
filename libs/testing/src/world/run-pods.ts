/**
 * Kubernetes' part: StatefulSets make their pods, kubelets start containers, the node controller notices silence after
 * its grace period. New pods get new addresses; a volume stays with its name.
 */
import { LABEL } from '#domain';
import { beginEnding, checkEnding } from './check-endings.ts';
import { linkedReplicas } from './run-redis.ts';
import { podName, volumeClaimName } from '#manifests';
import {
  TICK_MS,
  childKey,
  isPersistent,
  isReachable,
  makeId,
  nodeOf,
  podsOf,
  redisOf,
  sentinelOf,
  settingOf,
  sizeOf,
  tell,
} from './world-state.ts';
import type { SimPod, World } from './world-state.ts';

const NODE_GRACE_MS = 40_000;
const START_MS = 2_000;

export const runPods = (world: World): void => {
  watchNodes(world);
  removeTerminated(world);
  for (const component of ['redis', 'sentinel'] as const) {
    makeMissing(world, component);
    removeSurplus(world, component);
  }
};

const removeSurplus = (world: World, component: SimPod['component']): void => {
  if (!world.children.has(childKey('StatefulSet', world.names[component]))) return;
  const size = sizeOf(world, component);
  for (const pod of podsOf(world, component).filter((other) => other.ordinal >= size && !other.terminating)) {
    deletePod(world, pod);
    const members = settingOf(world, 'REDIS_PODS');
    const isScaledAway = component === 'redis' && members !== '' && pod.ordinal >= Number(members);
    if (isScaledAway && isPersistent(world)) world.leftBehind.add(volumeClaimName(pod.name));
  }
};

const watchNodes = (world: World): void => {
  for (const node of world.nodes) {
    const heard = node.up && !node.partitioned;
    if (heard) node.notSeenSinceMs = undefined;
    else node.notSeenSinceMs ??= world.nowMs;
    node.ready = heard || world.nowMs - (node.notSeenSinceMs ?? world.nowMs) < NODE_GRACE_MS;
  }
};

const isPrimary = (pod: SimPod): boolean => redisOf(pod)?.role === 'master';

/** How long preStop waits for a hand-over that nobody begins (libs/manifests, stop-redis-script.ts). */
const UNTOLD_MS = 4_000;

/** preStop: a primary with a linked replica goes on serving while the agent, which it has a connection of, may hand over. */
const isHeld = (world: World, pod: SimPod): boolean => {
  const redis = redisOf(pod);
  if (redis?.role !== 'master' || linkedReplicas(world, pod).length === 0 || !isReachable(world, pod)) return false;
  return world.nowMs - (pod.ending?.sinceMs ?? 0) < UNTOLD_MS;
};

/** A pod object goes only after its kubelet said so; on a silent node it stays terminating. */
const removeTerminated = (world: World): void => {
  // What follows a primary goes first, which is all that its preStop looks for.
  const order = [...world.pods.values()].sort((a, b) => Number(isPrimary(a)) - Number(isPrimary(b)));
  for (const pod of order) {
    const node = nodeOf(world, pod);
    if (!pod.terminating || node?.up !== true || node.partitioned || isHeld(world, pod)) continue;
    checkEnding(world, pod);
    endProcess(world, pod);
    world.pods.delete(pod.name);
  }
};

const makeMissing = (world: World, component: SimPod['component']): void => {
  const set = component === 'redis' ? world.names.redis : world.names.sentinel;
  if (!world.children.has(childKey('Secret', world.names.credentialsSecret))) return;
  for (let ordinal = 0; ordinal < sizeOf(world, component); ordinal += 1) {
    const name = podName(set, ordinal);
    if (world.pods.has(name)) continue;
    const ready = world.nodes.filter((node) => node.ready && node.up && !node.partitioned);
    const node = ready[(ordinal + world.random.integer(2)) % Math.max(1, ready.length)];
    if (node !== undefined) world.pods.set(name, makePod(world, { name, ordinal, component, node: node.name }));
  }
};

const makePod = (world: World, of: Pick<SimPod, 'name' | 'ordinal' | 'component' | 'node'>): SimPod => {
  if (of.component === 'redis' && isPersistent(world)) makeVolume(world, volumeClaimName(of.name));
  return {
    ...of,
    revision: revisionOf(world, of.component),
    image: imageOf(world, of.component),
    uid: makeId(world, 'uid'),
    createdAtMs: world.nowMs,
    exitSeenAtMs: undefined,
    frozenUntilMs: 0,
    ip: makeId(world, '10.0'),
    labels: { [LABEL.dataSet]: world.names.hash, [LABEL.component]: of.component },
    terminating: false,
    ending: undefined,
    restarts: 0,
    startsAtMs: world.nowMs + START_MS,
    guardUntilMs: undefined,
    process: undefined,
    kept: undefined,
  };
};

const revisionOf = (world: World, component: SimPod['component']): string => {
  const set = world.children.get(childKey('StatefulSet', world.names[component])) as
    { status?: { updateRevision?: string } } | undefined;
  return set?.status?.updateRevision ?? '';
};

const imageOf = (world: World, component: SimPod['component']): string => {
  const set = world.children.get(childKey('StatefulSet', world.names[component])) as
    { spec?: { template?: { spec?: { containers?: readonly { image?: string }[] } } } } | undefined;
  return set?.spec?.template?.spec?.containers?.[0]?.image ?? '';
};

const makeVolume = (world: World, claim: string): void => {
  if (world.volumes.has(claim)) return;
  world.volumes.set(claim, new Set());
  putClaim(world, claim, { [LABEL.dataSet]: world.names.hash, [LABEL.instance]: 'orders' });
};

const putClaim = (world: World, name: string, labels: Readonly<Record<string, string>>): void => {
  world.children.set(childKey('PersistentVolumeClaim', name), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: 'shop',
      uid: makeId(world, 'uid'),
      creationTimestamp: '2026-01-01T00:00:10Z',
      labels,
    },
    spec: { resources: { requests: { storage: world.lastSpec.storage?.size ?? '1Gi' } } },
  });
};

/** As after a restore by hand: a StatefulSet finds it by its name, and nothing else of it is known. */
export const restoreClaim = (world: World, ordinal: number, lastWrite: number): void => {
  const claim = volumeClaimName(podName(world.names.redis, ordinal));
  world.volumes.set(claim, new Set([...world.acknowledged].filter((write) => write <= lastWrite)));
  world.leftBehind.add(claim);
  putClaim(world, claim, {});
  tell(world, `claim ${claim} is restored by hand, without labels, as it was at write ${lastWrite}`);
};

/** The process ends; what it held in memory is gone, what its volume or emptyDir holds stays. */
export const endProcess = (world: World, pod: SimPod): void => {
  const redis = redisOf(pod);
  const sentinel = sentinelOf(pod);
  if (redis !== undefined && isPersistent(world)) world.volumes.set(volumeClaimName(pod.name), new Set(redis.writes));
  if (sentinel !== undefined) pod.kept = sentinel.monitor;
  pod.process = undefined;
  pod.frozenUntilMs = 0;
  pod.guardUntilMs = undefined;
};

/** The container ends and is started again by its kubelet, in the same pod with the same address. */
export const restartContainer = (world: World, pod: SimPod): void => {
  if (pod.process !== undefined && isReachable(world, pod)) pod.exitSeenAtMs = world.nowMs;
  endProcess(world, pod);
  pod.restarts += 1;
  pod.startsAtMs = world.nowMs + TICK_MS;
};

export const deletePod = (world: World, pod: SimPod): void => {
  if (!pod.terminating) pod.ending = beginEnding(world, pod);
  pod.terminating = true;
  tell(world, `pod ${pod.name} is deleted`);
};

/** A dead node's containers end at once; when it is back they start in new sandboxes, with new addresses. */
export const killNode = (world: World, name: string): void => {
  const node = world.nodes.find((candidate) => candidate.name === name);
  if (node === undefined || !node.up) return;
  node.up = false;
  tell(world, `node ${name} dies`);
  for (const pod of world.pods.values()) if (pod.node === name) endProcess(world, pod);
};

export const reviveNode = (world: World, name: string): void => {
  const node = world.nodes.find((candidate) => candidate.name === name);
  if (node === undefined || node.up) return;
  node.up = true;
  tell(world, `node ${name} is back`);
  for (const component of ['redis', 'sentinel'] as const) {
    for (const pod of podsOf(world, component).filter((candidate) => candidate.node === name)) {
      pod.ip = makeId(world, '10.0');
      pod.restarts += 1;
      pod.startsAtMs = world.nowMs + START_MS;
    }
  }
};
