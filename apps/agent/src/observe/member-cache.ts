/**
 * The agent's picture of its member cluster: one reflector a kind, projections only, and for each change the key of the
 * RedisCluster that must be looked at. It decides nothing. Invariant: every object that a plan can depend on either
 * wakes its RedisCluster here or is read anew in each pass; without that a lost child would wait for the next resync.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  LABEL,
  REDIS_CLUSTER_CRD_NAME,
  SCOPE_CONFIG_MAP,
  parseObjectKey,
  toScopeRecord,
  watchedNamespaces,
} from '#domain';
import type { Clock, KubeObject, ObjectKey, RedisClusterObject, Scope, ScopeRecord } from '#domain';
import { RESOURCE, emptyWhereGone, joinReflectors, startReflector } from '#kube';
import type { KubeClient, KubeResource, Reflector, ReflectorOptions } from '#kube';
import { ObjectsByDataSet, dataSetKeyOf } from './objects-by-data-set.ts';
import { projectChild } from './project-child.ts';
import { projectNode } from './project-node.ts';
import type { NodeProjection } from './project-node.ts';
import { projectPod } from './project-pod.ts';
import type { PodProjection } from './project-pod.ts';
import { deservesPass, projectRedisCluster } from './project-redis-cluster.ts';
import { ResourceIndex } from './resource-index.ts';

/** Kinds of children that are found by the data set label. Secrets are not here: they are read by name (04). */
const CHILD_KINDS = [
  RESOURCE.statefulSet,
  RESOURCE.service,
  RESOURCE.configMap,
  RESOURCE.podDisruptionBudget,
  RESOURCE.serviceAccount,
  RESOURCE.persistentVolumeClaim,
] as const;

/** A dozen watches knock at a server that is away; every few seconds is little for it, and soon enough for us. */
const WATCH_BACKOFF_MS = { first: 200, longest: 5_000 };

export interface ResourceChange {
  readonly key: ObjectKey;
  /** undefined: it is gone. */
  readonly now: RedisClusterObject | undefined;
  readonly before: RedisClusterObject | undefined;
}

export interface MemberCacheSettings {
  readonly client: KubeClient;
  readonly scope: Scope;
  /** Of scope CLUSTER: the only namespaces that are looked at. Default: all. */
  readonly namespaces?: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly hashOf: (resource: RedisClusterObject) => string;
  /** A RedisCluster, by `namespace/name`, must be looked at. */
  readonly onWake: (key: string) => void;
  /** Each change of a RedisCluster, of its status too. */
  readonly onResource: (change: ResourceChange) => void;
  /** ConfigMap atoll-scope of this namespace has changed. */
  readonly onScope?: (namespace: string) => void;
  readonly onFailure: (kind: string, error: unknown, retryInMs: number) => void;
}

type Projecting<P> = Pick<ReflectorOptions<P>, 'project' | 'onChange' | 'labelSelector' | 'fieldSelector'>;

interface Watch {
  readonly kind: string;
  /** undefined: of the whole member cluster. */
  readonly namespace: string | undefined;
  readonly reflector: Reflector<unknown>;
}

interface Place {
  readonly group: string;
  readonly id: string;
}
const NOWHERE: Place = { group: '', id: '' };
interface Change<T> {
  readonly now: T | undefined;
  readonly before: T | undefined;
}

const placePod = (pod: PodProjection): Place => ({ group: dataSetKeyOf(pod), id: pod.name });
const placeChild = (child: KubeObject): Place => ({
  group: dataSetKeyOf(child.metadata),
  id: `${child.kind}/${child.metadata.name}`,
});

export class MemberCache {
  readonly #settings: MemberCacheSettings;
  readonly #index: ResourceIndex;
  readonly #children = new ObjectsByDataSet<KubeObject>();
  readonly #pods = new ObjectsByDataSet<PodProjection>();
  readonly #resources: Reflector<RedisClusterObject>;
  readonly #scopes: Reflector<ScopeRecord>;
  readonly #nodes: Reflector<NodeProjection> | undefined;
  readonly #definition: Reflector<boolean> | undefined;
  readonly #all: Watch[] = [];

  constructor(settings: MemberCacheSettings) {
    this.#settings = settings;
    this.#index = new ResourceIndex(settings.hashOf);
    this.#resources = this.#watch(RESOURCE.redisCluster, {
      project: projectRedisCluster,
      onChange: (key, now, before) => this.#resourceChanged(key, now, before),
    });
    this.#watch(RESOURCE.pod, {
      project: projectPod,
      labelSelector: LABEL.dataSet,
      onChange: (_, now, before) => this.#grouped(this.#pods, placePod, { now, before }),
    });
    for (const kind of CHILD_KINDS) this.#watchChildren(kind);
    this.#scopes = this.#watch(RESOURCE.configMap, {
      project: toScopeRecord,
      fieldSelector: `metadata.name=${SCOPE_CONFIG_MAP}`,
      onChange: (key, now, before) => {
        const namespace = key.slice(0, key.indexOf('/'));
        settings.onScope?.(namespace);
        if (now?.owner !== before?.owner) this.wakeNamespace(namespace);
      },
    });
    const clusterWide = settings.scope.kind === 'CLUSTER';
    this.#nodes = clusterWide ? this.#watchNodes() : undefined;
    this.#definition = clusterWide ? this.#watchDefinition() : undefined;
  }

  async whenSynced(): Promise<void> {
    await Promise.all(this.#all.map(({ reflector }) => reflector.whenSynced(this.#settings.signal)));
  }

  /**
   * Kinds of which every picture is older than the limit, or not there yet. One namespace that the agent may not look into any
   * more does not stop it elsewhere.
   */
  staleKinds(maxAgeMs: number): string[] {
    const fresh = new Set(this.#all.filter(({ reflector }) => !reflector.isStale(maxAgeMs)).map(({ kind }) => kind));
    return [...new Set(this.#all.map(({ kind }) => kind))].filter((kind) => !fresh.has(kind));
  }

  /** True when anything that a plan in this namespace can depend on is older than the limit: then nobody may act there. */
  isStale(maxAgeMs: number, namespace: string): boolean {
    return this.#all.some(
      ({ namespace: of, reflector }) => (of === undefined || of === namespace) && reflector.isStale(maxAgeMs),
    );
  }

  /** True when the list of RedisClusters is complete and no older than the limit: only then may anybody count. */
  knowsResources(maxAgeMs: number): boolean {
    return this.#resources.synced && !this.#resources.isStale(maxAgeMs);
  }

  resource(key: string): RedisClusterObject | undefined {
    return this.#resources.get(key);
  }
  keys(): string[] {
    return [...this.#resources.entries()].map(([key]) => key);
  }
  resources(): RedisClusterObject[] {
    return [...this.#resources.entries()].map(([, resource]) => resource);
  }
  countResources(): number {
    let count = 0;
    for (const _ of this.#resources.entries()) count += 1;
    return count;
  }
  childrenOf(key: string): KubeObject[] {
    return this.#children.get(this.#index.dataSetOf(key) ?? '');
  }
  podsOf(key: string): PodProjection[] {
    return this.#pods.get(this.#index.dataSetOf(key) ?? '');
  }
  /** Every node; undefined where this agent has no right to see nodes. */
  nodes(): NodeProjection[] | undefined {
    return this.#nodes === undefined ? undefined : [...this.#nodes.entries()].map(([, node]) => node);
  }
  /** ConfigMap atoll-scope; undefined when nobody has claimed the namespace. */
  scopeRecord(namespace: string): ScopeRecord | undefined {
    return this.#scopes.get(`${namespace}/${SCOPE_CONFIG_MAP}`);
  }
  /** True while the definition is being deleted; undefined where this agent may not see definitions. */
  definitionTerminates(): boolean | undefined {
    return this.#definition === undefined ? undefined : this.#definition.get(REDIS_CLUSTER_CRD_NAME) === true;
  }

  #watch<P>(resource: KubeResource, options: Projecting<P>): Reflector<P> {
    const { scope, namespaces = [] } = this.#settings;
    const places = resource.namespaced ? watchedNamespaces(scope, namespaces) : undefined;
    const started = (places ?? [undefined]).map((namespace) => this.#watchIn(namespace, resource, options));
    return joinReflectors(started);
  }

  #watchIn<P>(namespace: string | undefined, resource: KubeResource, options: Projecting<P>): Reflector<P> {
    const { client, clock, signal, onFailure } = this.#settings;
    const { kind } = resource;
    const reflector = startReflector<P>({
      ...options,
      client: namespace === undefined ? client : emptyWhereGone(client, namespace),
      resource,
      clock,
      signal,
      ...(namespace === undefined ? {} : { namespace }),
      onFailure: (error, retryInMs) =>
        onFailure(namespace === undefined ? kind : `${kind} in ${namespace}`, error, retryInMs),
      backoffMs: WATCH_BACKOFF_MS,
    });
    this.#all.push({ kind, namespace, reflector });
    return reflector;
  }

  #watchChildren(resource: KubeResource): void {
    this.#watch(resource, {
      project: projectChild,
      labelSelector: LABEL.dataSet,
      onChange: (_, now, before) => this.#grouped(this.#children, placeChild, { now, before }),
    });
  }

  #watchNodes(): Reflector<NodeProjection> {
    return this.#watch(RESOURCE.node, {
      project: projectNode,
      onChange: (name, now, before) => {
        if (now?.ready === before?.ready && now?.outOfService === before?.outOfService) return;
        for (const group of this.#pods.groupsWith((pod) => pod.node === name)) this.#wakeDataSet(group);
      },
    });
  }

  #watchDefinition(): Reflector<boolean> {
    return this.#watch(RESOURCE.customResourceDefinition, {
      project: (object) => object.metadata.deletionTimestamp !== undefined,
      fieldSelector: `metadata.name=${REDIS_CLUSTER_CRD_NAME}`,
      onChange: (_, now, before) => {
        if (now !== before) for (const key of this.keys()) this.#settings.onWake(key);
      },
    });
  }

  #resourceChanged(key: string, now: RedisClusterObject | undefined, before: RedisClusterObject | undefined): void {
    if (now === undefined) this.#index.remove(key);
    else this.#index.put(key, now);
    this.#settings.onResource({ key: parseObjectKey(key), now, before });
    if (now === undefined || deservesPass(now, before)) this.#settings.onWake(key);
  }

  #grouped<T>(objects: ObjectsByDataSet<T>, place: (value: T) => Place, { now, before }: Change<T>): void {
    const from = before === undefined ? NOWHERE : place(before);
    const to = now === undefined ? NOWHERE : place(now);
    objects.delete(from.group, from.id);
    if (now !== undefined) objects.set(to.group, to.id, now);
    if (isDeepStrictEqual(now, before)) return;
    for (const group of new Set([from.group, to.group])) this.#wakeDataSet(group);
  }

  #wakeDataSet(dataSet: string): void {
    const key = this.#index.keyOf(dataSet);
    if (key !== undefined) this.#settings.onWake(key);
  }

  wakeNamespace(namespace: string): void {
    for (const key of this.keys()) if (key.startsWith(`${namespace}/`)) this.#settings.onWake(key);
  }
}
