/** Small changes of one object, pod or process in a copy of the picture, for previews. */
import { ownValue } from '#domain';
import type { KubeObject, PodSnapshot, RedisClusterSnapshot } from '#domain';
import type { ReachableRedis, ReachableSentinel } from '../cluster-view.ts';
import { isReachable } from './follow-pods.ts';

export const isNamed =
  (kind: string, name: string) =>
  (child: KubeObject): boolean =>
    child.kind === kind && child.metadata.name === name;

export const putChild = (snapshot: RedisClusterSnapshot, object: KubeObject): RedisClusterSnapshot => {
  const { name } = object.metadata;
  const live = snapshot.children.find(isNamed(object.kind, name));
  const metadata = { ...object.metadata, uid: live?.metadata.uid ?? `preview-${name}` };
  const child = { ...live, ...object, metadata };
  const children = [...snapshot.children.filter((one) => one !== live), child];
  return { ...snapshot, children };
};

export const changeChild = (
  snapshot: RedisClusterSnapshot,
  kind: string,
  name: string,
  change: (child: KubeObject) => KubeObject,
): RedisClusterSnapshot => ({
  ...snapshot,
  children: snapshot.children.map((child) => (isNamed(kind, name)(child) ? change(child) : child)),
});

export const changePod = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: (pod: PodSnapshot) => PodSnapshot,
): RedisClusterSnapshot => ({
  ...snapshot,
  pods: snapshot.pods.map((pod) => (pod.name === name ? change(pod) : pod)),
});

export const changeRedis = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: (facts: ReachableRedis) => ReachableRedis,
): RedisClusterSnapshot => {
  const facts = ownValue(snapshot.redis, name);
  return isReachable(facts) ? { ...snapshot, redis: { ...snapshot.redis, [name]: change(facts) } } : snapshot;
};

export const changeSentinel = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: (facts: ReachableSentinel) => ReachableSentinel,
): RedisClusterSnapshot => {
  const facts = ownValue(snapshot.sentinels, name);
  if (facts?.reachable !== true) return snapshot;
  return { ...snapshot, sentinels: { ...snapshot.sentinels, [name]: change(facts) } };
};
