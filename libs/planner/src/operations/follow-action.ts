/**
 * The snapshot as it would be after one action, for previews: what the executors and the cluster would do, at once and
 * without faults. An action that leaves no trace here (credentials, users) leaves the snapshot as it is, and the preview
 * ends when the planner plans the same again.
 */
import { LABEL, REDIS_PORT } from '#domain';
import type { Action, KubeObject, RedisClusterSnapshot, SentinelFacts } from '#domain';
import { diffObject } from '#manifests';
import type { ReachableRedis } from '../cluster-view.ts';
import { follow, ipOf, isReachable, replacePod, scalePods } from './follow-pods.ts';

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>;
type Follow<K extends Action['kind']> = (snapshot: RedisClusterSnapshot, action: Of<K>) => RedisClusterSnapshot;

export const followAction = (snapshot: RedisClusterSnapshot, action: Action): RedisClusterSnapshot => {
  const next = FOLLOWERS[action.kind] as Follow<Action['kind']> | undefined;
  return settle(next === undefined ? snapshot : next(snapshot, action));
};

interface StatefulSetFields {
  readonly spec?: { readonly replicas?: number; readonly template?: unknown };
  readonly status?: { readonly updateRevision?: string };
}

const isNamed = (kind: string, name: string) => (child: KubeObject) =>
  child.kind === kind && child.metadata.name === name;

const putChild = (snapshot: RedisClusterSnapshot, object: KubeObject): RedisClusterSnapshot => {
  const { name } = object.metadata;
  const live = snapshot.children.find(isNamed(object.kind, name));
  const metadata = { ...object.metadata, uid: live?.metadata.uid ?? `preview-${name}` };
  const child = { ...live, ...object, metadata };
  const children = [...snapshot.children.filter((one) => one !== live), child];
  return { ...snapshot, children };
};

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

const changeRedis = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: (facts: ReachableRedis) => ReachableRedis,
): RedisClusterSnapshot => {
  const facts = snapshot.redis[name];
  return isReachable(facts) ? { ...snapshot, redis: { ...snapshot.redis, [name]: change(facts) } } : snapshot;
};

const promote = (facts: ReachableRedis): ReachableRedis => {
  const { masterHost: _, masterPort: __, linkUp: ___, linkDownSinceMs: ____, ...rest } = facts;
  return { ...rest, role: 'master' };
};

const switchOver: Follow<'SwitchOver'> = (snapshot, action) => {
  const host = ipOf(snapshot, action.to);
  const promoted = changeRedis(snapshot, action.to, promote);
  const followers = [action.from, ...action.replicas.map(({ pod }) => pod)];
  const moved = followers.reduce((next, pod) => changeRedis(next, pod, (facts) => follow(facts, host)), promoted);
  return action.sentinelPods.reduce((next, pod) => changeSentinel(next, pod, { primaryHost: host }), moved);
};

const changeSentinel = (
  snapshot: RedisClusterSnapshot,
  name: string,
  change: Partial<Extract<SentinelFacts, { reachable: true }>>,
): RedisClusterSnapshot => {
  const facts = snapshot.sentinels[name];
  if (facts?.reachable !== true) return snapshot;
  return { ...snapshot, sentinels: { ...snapshot.sentinels, [name]: { ...facts, ...change } } };
};

const FOLLOWERS: { readonly [K in Action['kind']]?: Follow<K> } = {
  ApplyChild: applyChild,
  DeleteChild: deleteChild,
  OrphanStatefulSet: (snapshot, { key }) => ({
    ...snapshot,
    children: snapshot.children.filter((child) => !isNamed('StatefulSet', key.name)(child)),
  }),
  WriteRecord: (snapshot, { record }) => ({ ...snapshot, record }),
  CreateCredentials: (snapshot) => ({ ...snapshot, credentialsPresent: true }),
  PromotePod: (snapshot, { pod }) => changeRedis(snapshot, pod, promote),
  ReplicateFrom: (snapshot, { pod, primaryHost }) => changeRedis(snapshot, pod, (facts) => follow(facts, primaryHost)),
  SwitchOver: switchOver,
  MonitorPrimary: (snapshot, { sentinelPod, primaryHost, settings }) =>
    changeSentinel(snapshot, sentinelPod, {
      monitors: true,
      primaryHost,
      primaryPort: REDIS_PORT,
      flags: 'master',
      settings,
    }),
  StopMonitoring: (snapshot, { sentinelPod }) => changeSentinel(snapshot, sentinelPod, { monitors: false }),
  SetSentinelSettings: (snapshot, { sentinelPod, settings }) => {
    const facts = snapshot.sentinels[sentinelPod];
    const before = facts?.reachable === true ? facts.settings : {};
    return changeSentinel(snapshot, sentinelPod, { settings: { ...before, ...settings } });
  },
  SetConfig: (snapshot, { pod, values }) =>
    changeRedis(snapshot, pod, (facts) => ({ ...facts, config: { ...facts.config, ...values } })),
  LabelRole: (snapshot, { pod, role }) => ({
    ...snapshot,
    pods: snapshot.pods.map((one) =>
      one.name === pod ? { ...one, labels: { ...one.labels, [LABEL.role]: role } } : one,
    ),
  }),
  EvictPod: (snapshot, { pod }) => replacePod(snapshot, pod),
  DeletePod: (snapshot, { pod }) => replacePod(snapshot, pod),
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
