/**
 * The snapshot as it would be after one action, for previews: what the executors and the cluster would do, at once and
 * without faults. Invariant: of every kind of action that leaves something to be seen, the trace is left here too; else
 * the planner would plan the same again, and rules that wait for it to be done would never speak in a preview.
 */
import { ANNOTATION, FINALIZER, LABEL, REDIS_PORT } from '#domain';
import type { Action, KubeObject, RedisClusterSnapshot } from '#domain';
import { diffObject } from '#manifests';
import type { ReachableRedis } from '../cluster-view.ts';
import { changeChild, changePod, changeRedis, changeSentinel, isNamed, putChild } from './change-snapshot.ts';
import {
  createCredentials,
  publishConnection,
  setReplicationLogin,
  setSentinelLogin,
  setUsers,
  writeCredentials,
} from './follow-credentials.ts';
import { follow, ipOf, isReachable, replacePod, scalePods } from './follow-pods.ts';

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>;
type Follow<K extends Action['kind']> = (snapshot: RedisClusterSnapshot, action: Of<K>) => RedisClusterSnapshot;

export const followAction = (snapshot: RedisClusterSnapshot, action: Action): RedisClusterSnapshot =>
  settle((FOLLOWERS[action.kind] as Follow<Action['kind']>)(snapshot, action));

interface StatefulSetFields {
  readonly spec?: { readonly replicas?: number; readonly template?: unknown };
  readonly status?: { readonly updateRevision?: string };
}

const applyChild: Follow<'ApplyChild'> = (snapshot, { object }) => {
  if (object.kind !== 'StatefulSet') return putChild(snapshot, object);
  const set = object.metadata.name;
  const live = snapshot.children.find(isNamed('StatefulSet', set)) as (KubeObject & StatefulSetFields) | undefined;
  const { spec } = object as StatefulSetFields;
  const placed = putChild(snapshot, { ...object, status: { updateRevision: nextRevision(object, live) } });
  return scalePods(placed, set, componentOf(object), spec?.replicas ?? 1);
};

const nextRevision = (object: KubeObject, live: (KubeObject & StatefulSetFields) | undefined): string => {
  const old = live?.status?.updateRevision ?? '';
  return live !== undefined && !differsInTemplate(object, live) ? old : `${old}-next`;
};

const componentOf = (object: KubeObject | undefined): 'redis' | 'sentinel' =>
  object?.metadata.labels?.[LABEL.component] === 'sentinel' ? 'sentinel' : 'redis';

const differsInTemplate = (object: KubeObject & StatefulSetFields, live: KubeObject): boolean =>
  diffObject(
    {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: { name: '' },
      spec: { template: object.spec?.template },
    },
    live,
  ) !== undefined;

const deleteChild: Follow<'DeleteChild'> = (snapshot, { objectKind, key }) => {
  const gone = snapshot.children.find(isNamed(objectKind, key.name));
  const children = snapshot.children.filter((child) => child !== gone);
  const next = { ...snapshot, children };
  if (objectKind !== 'StatefulSet') return next;
  return scalePods(next, key.name, componentOf(gone), 0);
};

const promote = (facts: ReachableRedis): ReachableRedis => {
  const { masterHost: _, masterPort: __, linkUp: ___, linkDownSinceMs: ____, ...rest } = facts;
  return { ...rest, role: 'master' };
};

const handOver = (
  snapshot: RedisClusterSnapshot,
  to: string,
  followers: readonly string[],
  sentinelPods: readonly string[],
): RedisClusterSnapshot => {
  const primaryHost = ipOf(snapshot, to);
  const promoted = changeRedis(snapshot, to, promote);
  const moved = followers.reduce(
    (next, pod) => changeRedis(next, pod, (facts) => follow(facts, primaryHost)),
    promoted,
  );
  return sentinelPods.reduce((next, pod) => changeSentinel(next, pod, (facts) => ({ ...facts, primaryHost })), moved);
};

const switchOver: Follow<'SwitchOver'> = (snapshot, { from, to, replicas, sentinelPods }) =>
  handOver(snapshot, to, [from, ...replicas.map(({ pod }) => pod)], sentinelPods);

const failOver: Follow<'FailOverBySentinel'> = (snapshot, { replicas }) => {
  const [next, ...others] = replicas.map(({ pod }) => pod);
  return next === undefined ? snapshot : handOver(snapshot, next, others, Object.keys(snapshot.sentinels));
};

const setFinalizers = (snapshot: RedisClusterSnapshot, finalizers: readonly string[]): RedisClusterSnapshot => {
  const { resource } = snapshot;
  return { ...snapshot, resource: { ...resource, metadata: { ...resource.metadata, finalizers } } };
};

const setLabel = (child: KubeObject, label: string, value: string): KubeObject => ({
  ...child,
  metadata: { ...child.metadata, labels: { ...child.metadata.labels, [label]: value } },
});

/** Nothing of it is in the picture: a fence, a file beside the data. */
const leaveAsIs = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => snapshot;

const FOLLOWERS: { readonly [K in Action['kind']]: Follow<K> } = {
  AddFinalizer: (snapshot) => setFinalizers(snapshot, [FINALIZER]),
  RemoveFinalizer: (snapshot) => setFinalizers(snapshot, []),
  ApplyChild: applyChild,
  DeleteChild: deleteChild,
  OrphanStatefulSet: (snapshot, { key }) => ({
    ...snapshot,
    children: snapshot.children.filter((child) => !isNamed('StatefulSet', key.name)(child)),
  }),
  WriteRecord: (snapshot, { record }) => ({ ...snapshot, record }),
  CreateCredentials: createCredentials,
  PublishConnection: publishConnection,
  WriteCredentials: writeCredentials,
  SetUsers: setUsers,
  SetReplicationLogin: setReplicationLogin,
  SetSentinelLogin: setSentinelLogin,
  PromotePod: (snapshot, { pod }) => changeRedis(snapshot, pod, promote),
  ReplicateFrom: (snapshot, { pod, primaryHost }) => changeRedis(snapshot, pod, (facts) => follow(facts, primaryHost)),
  SwitchOver: switchOver,
  FailOverBySentinel: failOver,
  FencePod: leaveAsIs,
  ResumePod: leaveAsIs,
  SetAside: leaveAsIs,
  MonitorPrimary: (snapshot, { sentinelPod, primaryHost, settings }) =>
    changeSentinel(snapshot, sentinelPod, (facts) => ({
      ...facts,
      monitors: true,
      primaryHost,
      primaryPort: REDIS_PORT,
      flags: 'master',
      settings,
    })),
  StopMonitoring: (snapshot, { sentinelPod }) =>
    changeSentinel(snapshot, sentinelPod, (facts) => ({ ...facts, monitors: false })),
  SetSentinelSettings: (snapshot, { sentinelPod, settings }) =>
    changeSentinel(snapshot, sentinelPod, (facts) => ({ ...facts, settings: { ...facts.settings, ...settings } })),
  /** What it then knows follows from the pods: settle. */
  ResetSentinel: leaveAsIs,
  SetConfig: (snapshot, { pod, values }) =>
    changeRedis(snapshot, pod, (facts) => ({ ...facts, config: { ...facts.config, ...values } })),
  LabelRole: (snapshot, { pod, role }) =>
    changePod(snapshot, pod, (one) => ({ ...one, labels: { ...one.labels, [LABEL.role]: role } })),
  RefreshPod: (snapshot, { pod, settings }) =>
    changePod(snapshot, pod, (one) => ({
      ...one,
      annotations: { ...one.annotations, [ANNOTATION.settings]: settings },
    })),
  EvictPod: (snapshot, { pod }) => replacePod(snapshot, pod),
  DeletePod: (snapshot, { pod }) => replacePod(snapshot, pod),
  KeepVolume: (snapshot, { key }) =>
    changeChild(snapshot, 'PersistentVolumeClaim', key.name, (claim) =>
      setLabel(claim, LABEL.kept, snapshot.resource.metadata.uid ?? ''),
    ),
  GrowVolume: (snapshot, { key, size }) =>
    changeChild(snapshot, 'PersistentVolumeClaim', key.name, (claim) => ({
      ...claim,
      spec: { ...(claim['spec'] as object | undefined), resources: { requests: { storage: size } } },
      status: { ...(claim['status'] as object | undefined), capacity: { storage: size } },
    })),
};

/** What follows by itself: Sentinels know every replica and each other, a primary counts its replicas. */
const settle = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => {
  const hosts = (primaryHost: string | undefined): string[] =>
    Object.keys(snapshot.redis)
      .map((name) => ipOf(snapshot, name))
      .filter((host) => host !== primaryHost);
  const watching = Object.values(snapshot.sentinels).filter((facts) => facts.reachable && facts.monitors).length;
  const sentinels = Object.fromEntries(
    Object.entries(snapshot.sentinels).map(([name, facts]) => {
      if (!facts.reachable || !facts.monitors) return [name, facts];
      const replicaHosts = hosts(facts.primaryHost);
      const seen = { replicaHosts, knownReplicas: replicaHosts.length, otherSentinels: watching - 1, quorumOk: true };
      return [name, { ...facts, ...seen }];
    }),
  );
  const replicas = Object.keys(snapshot.redis).length - 1;
  const redis = Object.fromEntries(
    Object.entries(snapshot.redis).map(([name, facts]) => [
      name,
      isReachable(facts) && facts.role === 'master' ? { ...facts, connectedReplicas: replicas } : facts,
    ]),
  );
  return { ...snapshot, sentinels, redis };
};
