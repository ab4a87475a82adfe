/**
 * What pods become when a plan is followed without a world: a pod that is made or made anew runs at once, as the spec
 * says, and is linked to whoever is primary. Pure; for previews only.
 */
import { REDIS_PORT, largestMaxmemoryBytes, memoryLimitBytes } from '#domain';
import type { PodSnapshot, RedisClusterSnapshot, RedisNodeFacts, SentinelFacts } from '#domain';
import { podName, redisDirectives, resolveSpec } from '#manifests';
import type { ReachableRedis } from '../cluster-view.ts';
import { presentField } from '../present-field.ts';
import { newestRevision } from '../rollout/find-outdated.ts';

type Component = PodSnapshot['component'];

export const isReachable = (facts: RedisNodeFacts | undefined): facts is ReachableRedis => facts?.reachable === true;

/** Name and facts of the node that says it is primary. */
export const findMaster = ({ redis }: RedisClusterSnapshot): readonly [string, ReachableRedis] | undefined => {
  const found = Object.entries(redis).find(([, facts]) => isReachable(facts) && facts.role === 'master');
  return found === undefined ? undefined : [found[0], found[1] as ReachableRedis];
};

export const ipOf = ({ pods }: RedisClusterSnapshot, name: string): string =>
  pods.find((pod) => pod.name === name)?.ip ?? `preview-${name}`;

export const replacePod = (snapshot: RedisClusterSnapshot, name: string): RedisClusterSnapshot => {
  const pod = snapshot.pods.find((one) => one.name === name);
  if (pod === undefined) return snapshot;
  const set = name.slice(0, name.lastIndexOf('-'));
  const others = snapshot.pods.filter((one) => one.name !== name);
  return startProcess({ ...snapshot, pods: [...others, makePod(snapshot, set, pod.ordinal, pod.component)] }, name);
};

/** As many pods as the StatefulSet says: missing ones run, those above are gone. */
export const scalePods = (
  snapshot: RedisClusterSnapshot,
  set: string,
  component: Component,
  replicas: number,
): RedisClusterSnapshot => {
  const kept = snapshot.pods.filter((pod) => pod.component !== component || pod.ordinal < replicas);
  const gone = new Set(snapshot.pods.filter((pod) => !kept.includes(pod)).map(({ name }) => name));
  const next: RedisClusterSnapshot = {
    ...snapshot,
    pods: kept,
    redis: without(snapshot.redis, gone),
    sentinels: without(snapshot.sentinels, gone),
  };
  return Array.from({ length: replicas }, (_, ordinal) => ordinal)
    .filter((ordinal) => !kept.some((pod) => pod.component === component && pod.ordinal === ordinal))
    .reduce((picture, ordinal) => {
      const pod = makePod(picture, set, ordinal, component);
      return startProcess({ ...picture, pods: [...picture.pods, pod] }, pod.name);
    }, next);
};

const without = <T>(facts: Readonly<Record<string, T>>, names: ReadonlySet<string>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.has(name)));

const makePod = (snapshot: RedisClusterSnapshot, set: string, ordinal: number, component: Component): PodSnapshot => {
  const name = podName(set, ordinal);
  const before = snapshot.pods.find((pod) => pod.name === name);
  const like = before ?? snapshot.pods.find((pod) => pod.component === component);
  const revision = newestRevision(snapshot, set);
  return {
    labels: like?.labels ?? {},
    annotations: like?.annotations ?? {},
    phase: 'Running',
    terminating: false,
    restarts: 0,
    nodeReady: true,
    node: `preview-${ordinal}`,
    ip: `preview-${name}`,
    ...before,
    name,
    ordinal,
    component,
    uid: `${before?.uid ?? 'preview'}-next`,
    ready: true,
    running: true,
    createdAtMs: snapshot.observedAtMs,
    ...presentField('controllerRevision', revision),
    ...(component === 'redis' ? presentField('memoryLimitBytes', limitOf(snapshot)) : {}),
  };
};

const limitOf = ({ resource }: RedisClusterSnapshot): number | undefined =>
  memoryLimitBytes(resolveSpec(resource.spec).resources);

/** A restarted Redis is a replica of whoever is primary; alone it comes back with what its disk or a copy gave it. */
const startProcess = (snapshot: RedisClusterSnapshot, name: string): RedisClusterSnapshot => {
  const pod = snapshot.pods.find((one) => one.name === name);
  if (pod?.component === 'sentinel') return { ...snapshot, sentinels: { ...snapshot.sentinels, [name]: IDLE } };
  const like = findMaster(snapshot);
  if (like === undefined) return snapshot;
  const [primary, facts] = like;
  const spec = resolveSpec(snapshot.resource.spec);
  const limitBytes = limitOf(snapshot);
  const maxmemory = String(limitBytes === undefined ? 0 : largestMaxmemoryBytes({}, limitBytes));
  const fresh: ReachableRedis = {
    ...facts,
    runId: `preview-${name}`,
    version: spec.engine.version,
    engine: spec.engine.type,
    config: { ...facts.config, maxmemory, ...redisDirectives(spec) },
  };
  const started: ReachableRedis = name === primary ? fresh : follow(fresh, ipOf(snapshot, primary));
  return { ...snapshot, redis: { ...snapshot.redis, [name]: started } };
};

/** As a linked replica of that address. */
export const follow = (facts: ReachableRedis, host: string): ReachableRedis => {
  const { linkDownSinceMs: _, ...rest } = facts;
  return { ...rest, role: 'slave', masterHost: host, masterPort: REDIS_PORT, linkUp: true, connectedReplicas: 0 };
};

const IDLE: SentinelFacts = {
  reachable: true,
  myId: 'preview',
  monitors: false,
  knownReplicas: 0,
  otherSentinels: 0,
  configEpoch: 0,
  failoverInProgress: false,
  quorumOk: false,
  settings: {},
};
