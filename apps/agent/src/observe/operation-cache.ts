/**
 * RedisOperations by the RedisCluster that they name. Their own picture, apart from the rest: where the definition is not
 * installed (release 0.1.0 had none) there are none, and the agent goes on without them until it comes. What a person can change wakes the RedisCluster, and so
 * does a change of the phase, since an operation acts only when its beginning is on the server.
 */
import { parseObjectKey, watchedNamespaces } from '#domain';
import type { Clock, KubeObject, RedisOperationObject, Scope } from '#domain';
import { RESOURCE, emptyWhereGone, isKubeError, startReflector } from '#kube';
import type { KubeClient } from '#kube';

export interface OperationCacheSettings {
  readonly client: KubeClient;
  readonly scope: Scope;
  /** As of MemberCacheSettings. */
  readonly namespaces?: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A RedisCluster, by `namespace/name`, must be looked at; it may not be there. */
  readonly onWake: (key: string) => void;
  readonly onFailure: (kind: string, error: unknown, retryInMs: number) => void;
}

/** No name of a namespace. */
const EVERYWHERE = '*';
const BACKOFF_MS = { first: 500, longest: 10_000 };

const project = (object: KubeObject): RedisOperationObject => {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...(object as RedisOperationObject), metadata };
};

const clusterKeyOf = ({ metadata, spec }: RedisOperationObject): string =>
  `${metadata.namespace ?? ''}/${spec.redisCluster}`;

const decisive = (operation: RedisOperationObject | undefined): string =>
  JSON.stringify([operation?.metadata.uid, operation?.metadata.generation, operation?.status?.phase]);

export class OperationCache {
  readonly #settings: OperationCacheSettings;
  /** Namespaces (EVERYWHERE: all) whose list is here; none before the first list, and while there is no such kind. */
  readonly #served = new Set<string>();
  /** By RedisCluster, then by key of the operation. */
  readonly #byCluster = new Map<string, Map<string, RedisOperationObject>>();

  constructor(settings: OperationCacheSettings) {
    this.#settings = settings;
    for (const namespace of watchedNamespaces(settings.scope, settings.namespaces ?? []) ?? [undefined])
      this.#watch(namespace);
  }

  /** Of this RedisCluster, by `namespace/name`; undefined while nobody knows. */
  of(clusterKey: string): readonly RedisOperationObject[] | undefined {
    const isServed = this.#served.has(EVERYWHERE) || this.#served.has(parseObjectKey(clusterKey).namespace);
    return isServed ? [...(this.#byCluster.get(clusterKey)?.values() ?? [])] : undefined;
  }

  #watch(namespace: string | undefined): void {
    const { client, clock, signal, onFailure } = this.#settings;
    const place = namespace ?? EVERYWHERE;
    startReflector<RedisOperationObject>({
      client: namespace === undefined ? client : emptyWhereGone(client, namespace),
      resource: RESOURCE.redisOperation,
      clock,
      signal,
      ...(namespace === undefined ? {} : { namespace }),
      project,
      onChange: (key, now, before) => this.#changed(key, now, before),
      onSynced: () => this.#served.add(place),
      onFailure: (error, retryInMs) => {
        if (isKubeError(error) && error.isNotFound()) this.#served.delete(place);
        onFailure(RESOURCE.redisOperation.kind, error, retryInMs);
      },
      backoffMs: BACKOFF_MS,
    });
  }

  #changed(key: string, now: RedisOperationObject | undefined, before: RedisOperationObject | undefined): void {
    if (before !== undefined) this.#remove(clusterKeyOf(before), key);
    if (now !== undefined) {
      const clusterKey = clusterKeyOf(now);
      const present = this.#byCluster.get(clusterKey) ?? new Map<string, RedisOperationObject>();
      this.#byCluster.set(clusterKey, present.set(key, now));
    }
    const concerned = now ?? before;
    if (concerned !== undefined && decisive(now) !== decisive(before)) this.#settings.onWake(clusterKeyOf(concerned));
  }

  #remove(clusterKey: string, key: string): void {
    const present = this.#byCluster.get(clusterKey);
    present?.delete(key);
    if (present?.size === 0) this.#byCluster.delete(clusterKey);
  }
}
