/**
 * What no plan and no action may do, whatever the picture was: disrupt twice, act in a namespace of another agent or on a
 * clock that jumped, take a data pod away while another is missing, promote a pod that lacks what a reachable one has,
 * delete data that nobody asked to delete.
 */
import { LABEL } from '#domain';
import type { Action, Plan } from '#domain';
import { parseOrdinal } from '#manifests';
import { childKey, isLoading, isReachable, podsOf, redisOf, violate } from './world-state.ts';
import type { SimPod, World } from './world-state.ts';

/** What an agent may still write where it may not act: nothing but its word. */
const CLOCK_TOLERANCE_MS = 5_000;

export const checkPlan = (world: World, { actions }: Plan): void => {
  if (actions.filter((action) => action.disruptive).length > 1) violate(world, 'a plan disrupts twice');
  if (actions.length === 0) return;
  if (world.nowMs < world.foreignUntilMs) violate(world, `${list(actions)} in a namespace of another agent`);
  if (Math.abs(world.clockJumpMs) > CLOCK_TOLERANCE_MS) violate(world, `${list(actions)} on a clock that jumped`);
};

const list = (actions: readonly Action[]): string => actions.map(({ kind }) => kind).join(', ');

export const checkAction = (world: World, action: Action): void => {
  switch (action.kind) {
    case 'EvictPod':
      return checkEviction(world, action.pod);
    case 'DeletePod':
      return checkDeletion(world, action.pod);
    case 'PromotePod':
      return checkPromotion(world, action.pod);
    case 'DeleteChild':
      return checkDeleteChild(world, action);
    default:
      return;
  }
};

/** A data pod is restarted by us only while every other one that can be seen serves. */
const checkEviction = (world: World, name: string): void => {
  const victim = world.pods.get(name);
  if (victim === undefined || !serves(world, victim)) return;
  const others = podsOf(world, victim.component).filter((pod) => pod.name !== name);
  const missing = others.filter((pod) => pod.terminating || pod.process === undefined);
  if (missing.length > 0) violate(world, `${name} is evicted while ${missing[0]?.name ?? ''} is missing`);
};

/** It answers, and is a primary, a linked replica or a Sentinel. */
const serves = (world: World, pod: SimPod): boolean => {
  if (pod.process === undefined || !isReachable(world, pod)) return false;
  const redis = redisOf(pod);
  return redis === undefined || redis.role === 'master' || redis.linkUp;
};

/** DeletePod is for pods that serve nobody. */
const checkDeletion = (world: World, name: string): void => {
  const redis = redisOf(world.pods.get(name));
  if (redis?.role === 'master' && isReachable(world, world.pods.get(name) as SimPod)) {
    violate(world, `${name} serves as primary and is deleted`);
  }
};

const checkPromotion = (world: World, name: string): void => {
  const promoted = redisOf(world.pods.get(name));
  if (promoted === undefined) return;
  for (const pod of podsOf(world, 'redis')) {
    const other = redisOf(pod);
    if (pod.name === name || other === undefined || !isReachable(world, pod) || isLoading(world, other)) continue;
    const better = [...other.writes].filter((write) => world.acknowledged.has(write) && !promoted.writes.has(write));
    if (better.length > 0)
      violate(world, `${name} is promoted, and lacks ${better.length} writes that ${pod.name} has`);
  }
};

/** With deletionPolicy Delete, of a pod that is wanted no more, and a claim that was made for it. */
const isLeftVolume = (world: World, { objectKind, key }: Extract<Action, { kind: 'DeleteChild' }>): boolean => {
  const { spec } = world.resource ?? {};
  const labels = world.children.get(childKey(objectKind, key.name))?.metadata.labels ?? {};
  const ordinal = parseOrdinal(key.name) ?? 0;
  return spec?.deletionPolicy === 'Delete' && ordinal >= (spec.size ?? 3) && labels[LABEL.dataSet] !== undefined;
};

const checkDeleteChild = (world: World, action: Extract<Action, { kind: 'DeleteChild' }>): void => {
  if (world.resource?.metadata.deletionTimestamp !== undefined) return;
  const holdsData = action.objectKind === 'PersistentVolumeClaim' || action.key.name === world.names.redis;
  const deletes = holdsData && ['PersistentVolumeClaim', 'StatefulSet'].includes(action.objectKind);
  if (deletes && !isLeftVolume(world, action))
    violate(world, `${action.objectKind} ${action.key.name} is deleted, which nobody asked for`);
};
