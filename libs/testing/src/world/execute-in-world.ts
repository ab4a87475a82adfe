/**
 * Carries out planned actions in the simulated world, with the preconditions that the real executors read again. Throws
 * where a real one would fail; the pass ends there.
 */
import { FINALIZER, LABEL, WAITING_PRIMARY_HOST } from '#domain';
import type { Action, KubeObject } from '#domain';
import { decodeRecord, describeOwner, renderRecord } from '#manifests';
import { excuseLag } from './check-invariants.ts';
import { demoteTo, promote, resume } from './run-redis.ts';
import { adopt, failOverAtOnce } from './run-sentinels.ts';
import { deletePod } from './run-pods.ts';
import { childKey, isReachable, makeId, podsOf, redisOf, sentinelOf, tell, violate } from './world-state.ts';
import type { SimPod, SimRedis, World } from './world-state.ts';

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>;

export const executeInWorld = (world: World, action: Action): void => {
  tell(world, `agent: ${action.kind} (${action.reason}) ${action.message}`);
  (EXECUTORS[action.kind] as (world: World, action: Action) => void)(world, action);
};

const setFinalizers = (world: World, finalizers: readonly string[]): void => {
  const { resource } = world;
  if (resource === undefined) throw new Error('gone');
  world.resource = { ...resource, metadata: { ...resource.metadata, finalizers } };
  if (finalizers.length === 0 && resource.metadata.deletionTimestamp !== undefined) world.resource = undefined;
};

const putChild = (world: World, object: KubeObject): void => {
  const key = childKey(object.kind, object.metadata.name);
  const uid = world.children.get(key)?.metadata.uid ?? makeId(world, 'uid');
  const metadata = { ...object.metadata, uid, creationTimestamp: '2026-01-01T00:00:05Z' };
  const status = object.kind === 'StatefulSet' ? { status: { updateRevision: reviseTemplate(object) } } : {};
  world.children.set(key, { ...structuredClone(object), metadata, ...status });
};

/** Equal templates have equal revisions, as with the StatefulSet controller: taking a change back takes its revision back. */
const reviseTemplate = (object: KubeObject): string => {
  const { template } = object['spec'] as { template: unknown };
  let hash = 0;
  for (const character of JSON.stringify(template)) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return `${object.metadata.name}-${hash.toString(16)}`;
};

const deleteChild = (world: World, action: Of<'DeleteChild'>): void => {
  const key = childKey(action.objectKind, action.key.name);
  if (world.children.get(key)?.metadata.uid !== action.uid) return;
  world.children.delete(key);
  if (action.objectKind === 'PersistentVolumeClaim') world.volumes.delete(action.key.name);
  if (action.objectKind !== 'StatefulSet') return;
  const component = action.key.name === world.names.redis ? 'redis' : 'sentinel';
  for (const pod of podsOf(world, component)) deletePod(world, pod);
};

const makeSecret = (world: World, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop', labels: { [LABEL.dataSet]: world.names.hash, [LABEL.instance]: 'orders' } },
});

const writeRecord = (world: World, { record, key, reason }: Of<'WriteRecord'>): void => {
  const live = world.children.get(childKey('ConfigMap', key.name));
  const known = live === undefined ? undefined : decodeRecord(live);
  if (known !== undefined && known.primaryTerm > record.primaryTerm) throw new Error('older term');
  if (record.primaryTerm < world.highestTerm) violate(world, `the term went back to ${record.primaryTerm}`);
  if (reason === 'CreatingDataSet') world.creations += 1;
  if (world.creations > 1) violate(world, 'the data set was created a second time');
  world.highestTerm = Math.max(world.highestTerm, record.primaryTerm);
  const owner = describeOwner({
    name: 'orders',
    namespace: 'shop',
    dataSetId: record.dataSetId as never,
    renderVersion: record.renderVersion,
  });
  putChild(world, renderRecord(owner, key.name, record));
};

const requirePod = (world: World, name: string): SimPod => {
  const pod = world.pods.get(name);
  if (pod === undefined || !isReachable(world, pod)) throw new Error(`no connection to ${name}`);
  return pod;
};

const requireRedis = (world: World, name: string, expectRunId: string): SimRedis => {
  const redis = redisOf(requirePod(world, name));
  if (redis === undefined) throw new Error(`no connection to ${name}`);
  if (expectRunId !== '' && redis.runId !== expectRunId) throw new Error('restarted');
  return redis;
};

const requireMonitor = (world: World, name: string): { settings: Record<string, string> } => {
  const monitor = sentinelOf(requirePod(world, name))?.monitor;
  if (monitor === undefined) throw new Error('no such master');
  return monitor;
};

const promotePod = (world: World, action: Of<'PromotePod'>): void => {
  const redis = requireRedis(world, action.pod, action.expectRunId);
  if (redis.role === 'master') return;
  if (redis.linkUp) throw new Error('link up');
  if (action.onlyIfEmpty && redis.writes.size > 0) throw new Error('not empty');
  if (action.onlyIfWaiting && redis.masterHost !== WAITING_PRIMARY_HOST) throw new Error('not waiting');
  const fuller = podsOf(world, 'redis').find((pod) => (redisOf(pod)?.writes.size ?? 0) > 0 && isReachable(world, pod));
  if (redis.writes.size === 0 && fuller !== undefined) {
    violate(world, `empty ${action.pod} was promoted while ${fuller.name} holds data`);
  }
  excuseLag(world, action.pod, redis);
  promote(world, redis, makeId(world, 'history'));
  resume(redis);
  world.chosen = action.pod;
};

const replicateFrom = (world: World, action: Of<'ReplicateFrom'>): void => {
  const redis = requireRedis(world, action.pod, action.expectRunId);
  demoteTo(world, redis, action.primaryHost);
  resume(redis);
  const leader = podsOf(world, 'redis').find((pod) => pod.ip === action.primaryHost);
  if (leader === undefined) return;
  const chosen = world.pods.get(world.chosen ?? '');
  if (leader !== chosen && redisOf(chosen)?.role === 'master') {
    violate(world, `${leader.name} was given a replica after ${world.chosen} was chosen in its place`);
  }
};

const monitorPrimary = (world: World, action: Of<'MonitorPrimary'>): void => {
  const sentinel = sentinelOf(requirePod(world, action.sentinelPod));
  if (sentinel === undefined) throw new Error(`no connection to ${action.sentinelPod}`);
  if (sentinel.failoverUntilMs !== undefined) throw new Error('failover in progress');
  if (sentinel.monitor?.host === action.primaryHost) {
    Object.assign(sentinel.monitor.settings, action.settings);
    return;
  }
  sentinel.monitor = {
    host: action.primaryHost,
    configEpoch: 0,
    knownHosts: new Set(),
    downSinceMs: undefined,
    settings: { ...action.settings },
  };
};

const labelRole = (world: World, action: Of<'LabelRole'>): void => {
  const pod = world.pods.get(action.pod);
  if (pod === undefined || pod.uid !== action.podUid) return;
  pod.labels = { ...pod.labels, [LABEL.role]: action.role };
};

const removePod = (world: World, name: string, uid: string): void => {
  const pod = world.pods.get(name);
  if (pod?.uid === uid) deletePod(world, pod);
};

/** All or nothing, as the real one is from outside: whoever is linked has every write before the roles change. */
const switchOver = (world: World, action: Of<'SwitchOver'>): void => {
  const old = requireRedis(world, action.from, action.fromRunId);
  const next = requireRedis(world, action.to, action.toRunId);
  const fromIp = requirePod(world, action.from).ip;
  if (old.role !== 'master' || !next.linkUp || next.masterHost !== fromIp) throw new Error('not linked');
  next.writes = new Set(old.writes);
  next.offsetBytes = old.offsetBytes;
  promote(world, next, makeId(world, 'history'));
  world.chosen = action.to;
  demoteTo(world, old, action.toHost);
  for (const { pod, runId } of action.replicas) demoteTo(world, requireRedis(world, pod, runId), action.toHost);
  for (const name of action.sentinelPods) {
    const monitor = sentinelOf(requirePod(world, name))?.monitor;
    if (monitor !== undefined) adopt(monitor, action.toHost, monitor.configEpoch + 1);
  }
};

/** Refused while the old primary answers: what proves its death is asked again right before. */
const failOver = (world: World, action: Of<'FailOverBySentinel'>): void => {
  const pod = requirePod(world, action.sentinelPod);
  const sentinel = sentinelOf(pod);
  if (sentinel?.monitor?.host !== action.expectPrimaryHost) throw new Error('monitors another');
  if (sentinel.failoverUntilMs !== undefined) throw new Error('failover in progress');
  const dead = world.pods.get(action.deadPod);
  if (redisOf(dead) !== undefined && dead?.ip === action.expectPrimaryHost) throw new Error('it answers');
  if (!failOverAtOnce(world, pod)) throw new Error('NOGOODSLAVE');
};

/** What only the fenced one holds is kept in a file from now on; it is not the data set's any more. */
const setAside = (world: World, { pod, expectRunId }: Of<'SetAside'>): void => {
  const redis = requireRedis(world, pod, expectRunId);
  const chosen = podsOf(world, 'redis')
    .filter((other) => other.name !== pod)
    .map(redisOf);
  for (const write of redis.writes) {
    if (chosen.some((other) => other?.role === 'master' && other.writes.has(write))) continue;
    if (world.acknowledged.delete(write)) world.excused.add(write);
  }
};

/** The simulated servers know no passwords. */
const withoutTrace = (): void => undefined;

const EXECUTORS: { readonly [K in Action['kind']]: (world: World, action: Of<K>) => void } = {
  AddFinalizer: (world) => setFinalizers(world, [FINALIZER]),
  RemoveFinalizer: (world) => setFinalizers(world, []),
  ApplyChild: (world, { object }) => putChild(world, object),
  DeleteChild: deleteChild,
  CreateCredentials: (world, { key }) => putChild(world, makeSecret(world, key.name)),
  PublishConnection: (world, { key }) => putChild(world, makeSecret(world, key.name)),
  WriteRecord: writeRecord,
  PromotePod: promotePod,
  ReplicateFrom: replicateFrom,
  MonitorPrimary: monitorPrimary,
  ResetSentinel: (world, { sentinelPod, expectPrimaryHost }) => {
    const sentinel = sentinelOf(requirePod(world, sentinelPod));
    if (sentinel?.monitor?.host !== expectPrimaryHost || sentinel.failoverUntilMs !== undefined) {
      throw new Error('not settled');
    }
    sentinel.monitor.knownHosts = new Set();
  },
  StopMonitoring: (world, { sentinelPod }) => {
    const sentinel = sentinelOf(requirePod(world, sentinelPod));
    if (sentinel?.failoverUntilMs !== undefined) throw new Error('failover in progress');
    if (sentinel !== undefined) sentinel.monitor = undefined;
  },
  OrphanStatefulSet: (world, { key, uid }) => {
    const name = childKey('StatefulSet', key.name);
    if (world.children.get(name)?.metadata.uid === uid) world.children.delete(name);
  },
  GrowVolume: (world, { key, size }) => {
    const claim = world.children.get(childKey('PersistentVolumeClaim', key.name));
    if (claim !== undefined) {
      putChild(world, { ...claim, spec: { resources: { requests: { storage: size } } } });
    }
  },
  RefreshPod: () => undefined,
  KeepVolume: (world, { key }) => {
    const claim = world.children.get(childKey('PersistentVolumeClaim', key.name));
    if (claim === undefined) throw new Error('gone');
    const labels = { ...claim.metadata.labels, [LABEL.kept]: world.resource?.metadata.uid ?? '' };
    putChild(world, { ...claim, metadata: { ...claim.metadata, labels } });
  },
  SetSentinelSettings: (world, { sentinelPod, settings }) => {
    Object.assign(requireMonitor(world, sentinelPod).settings, settings);
  },
  SetConfig: (world, { pod, values }) => {
    const redis = requireRedis(world, pod, '');
    redis.config = { ...redis.config, ...values };
  },
  LabelRole: labelRole,
  SwitchOver: switchOver,
  FailOverBySentinel: failOver,
  FencePod: (world, { pod, expectRunId, pauseMs }) => {
    requireRedis(world, pod, expectRunId).fencedUntilMs = world.nowMs + pauseMs;
  },
  ResumePod: (world, { pod, expectRunId }) => {
    resume(requireRedis(world, pod, expectRunId));
  },
  SetAside: setAside,
  EvictPod: (world, { pod, podUid }) => removePod(world, pod, podUid),
  DeletePod: (world, { pod, podUid }) => removePod(world, pod, podUid),
  WriteCredentials: withoutTrace,
  SetUsers: withoutTrace,
  SetReplicationLogin: withoutTrace,
  SetSentinelLogin: withoutTrace,
};
