/**
 * Gathers everything one pass decides from, once, into a dated plain snapshot: cached objects, Secrets by name, and one
 * answer of each Redis and Sentinel, asked in parallel, each with its own deadline. What did not answer is in the
 * snapshot as not reachable, with the reason; nothing is left out and nothing is guessed.
 */
import { formatObjectKey, objectKeyOf } from '#domain';
import type {
  Clock,
  DataSetRecord,
  KubeObject,
  NodeSnapshot,
  ObjectKey,
  PodSnapshot,
  RedisClusterObject,
  RedisClusterSnapshot,
  RedisNodeFacts,
  SentinelFacts,
} from '#domain';
import type { DataSetAccess } from './data-set-access.ts';
import type { CredentialsSource, LinkPool } from './link-pool.ts';
import type { OperationCache } from './operation-cache.ts';
import type { ClaimReader } from './claim-reader.ts';
import type { MemberCache } from './member-cache.ts';
import type { PodProjection } from './project-pod.ts';
import type { SecretContent, SecretReader } from './secret-reader.ts';
import { ClockWatch } from './watch-clock.ts';
import { HURRY_MS, withinMs } from './within-ms.ts';

/** A closed watch is mended within seconds; a picture older than this is not acted on (04, Never 9). */
export const STALE_AFTER_MS = 30_000;

export interface ObserverSettings {
  readonly cache: MemberCache;
  readonly secrets: SecretReader;
  readonly claims: ClaimReader;
  readonly operations: OperationCache;
  readonly links: LinkPool;
  readonly access: DataSetAccess;
  /** True when this agent acts there (04, Scopes). */
  readonly ownsNamespace: (namespace: string) => boolean;
  readonly clock: Clock;
  /** When a node's kubelet last renewed its Lease; undefined where that may not be read, or is not known. */
  readonly readHeardAtMs: (node: string) => Promise<number | undefined>;
  /** Whether the definition is being deleted, asked anew. */
  readonly readDefinitionTerminates: () => Promise<boolean>;
}

type Facts<T> = Readonly<Record<string, T>>;

const noAddress = { reachable: false, reason: 'NO_ADDRESS', message: 'The pod has no address yet.' } as const;

const toPodSnapshot = (pod: PodProjection, readyNodes: ReadonlySet<string> | undefined): PodSnapshot => {
  const { nodeLost, namespace: _, ...facts } = pod;
  const known = pod.node === undefined || readyNodes === undefined || readyNodes.has(pod.node);
  return { ...facts, nodeReady: known && !nodeLost };
};

/** Metadata, key names and a digest: enough to see a change, nothing to leak. */
const toSecretChild = ({ object, values }: SecretContent, digest: string): KubeObject => {
  const { data: _, metadata, ...rest } = object;
  const { managedFields: __, ...kept } = metadata;
  return { ...rest, metadata: kept, digest, keys: Object.keys(values).sort() };
};

/** Of another agent's RedisCluster nothing is read and nobody is asked: its Secrets and servers are not ours to touch. */
const lookOn = (resource: RedisClusterObject, scopeOwner: string, observedAtMs: number): RedisClusterSnapshot => ({
  observedAtMs,
  resource,
  crdTerminating: false,
  ownsNamespace: false,
  scopeOwner,
  children: [],
  pods: [],
  redis: {},
  sentinels: {},
  nodes: [],
  credentialsPresent: false,
});

const noAnswer = { reachable: false, reason: 'TIMEOUT', message: 'No answer in time.' } as const;

/** Of one user there are at most three passwords, and what was kept of the Secret may be older than it. */
const MOST_LOGINS = 4;
const isLoginRefused = (facts: RedisNodeFacts | SentinelFacts): boolean => !facts.reachable && facts.reason === 'AUTH';

export class Observer {
  readonly #settings: ObserverSettings;
  readonly #clockWatch: ClockWatch;

  constructor(settings: ObserverSettings) {
    this.#settings = settings;
    this.#clockWatch = new ClockWatch(settings.clock);
  }

  /** undefined: there is no such RedisCluster any more. Rejects when the API server does not answer for a Secret. */
  async observe(key: ObjectKey): Promise<RedisClusterSnapshot | undefined> {
    const { cache, links } = this.#settings;
    const owner = formatObjectKey(key);
    const resource = cache.resource(owner);
    const scopeOwner = cache.scopeRecord(key.namespace)?.owner;
    if (resource !== undefined && (scopeOwner === undefined || this.#settings.ownsNamespace(key.namespace))) {
      const snapshot = await this.#gather(key, resource);
      return {
        ...snapshot,
        ownsNamespace: scopeOwner !== undefined,
        ...(scopeOwner === undefined ? {} : { scopeOwner }),
      };
    }
    links.closeOwner(owner);
    return resource && lookOn(resource, scopeOwner ?? '', this.#observedAtMs(key.namespace));
  }

  async #gather(key: ObjectKey, resource: RedisClusterObject): Promise<Omit<RedisClusterSnapshot, 'ownsNamespace'>> {
    const { cache, links, access } = this.#settings;
    const owner = formatObjectKey(key);
    const pods = cache.podsOf(owner);
    links.retain(owner, pods);
    const [credentials, published, crdTerminating] = await Promise.all([
      this.#settings.secrets.read({ ...key, name: access.credentialsSecretOf(resource) }),
      this.#settings.secrets.read({ ...key, name: access.connectionSecretOf(resource) }),
      this.#definitionTerminates(resource),
    ]);
    const connection = published !== undefined && access.isOurs(published.object, resource) ? published : undefined;
    const [redis, sentinels] = await Promise.all([
      this.#probeRedis(owner, resource, pods),
      this.#probeSentinels(owner, resource, pods),
    ]);
    const seenNodes = cache.nodes();
    const readyNodes = seenNodes && new Set(seenNodes.filter((node) => node.ready).map((node) => node.name));
    const labelled = cache.childrenOf(owner);
    const secretChildren = [credentials, connection]
      .filter((secret) => secret !== undefined)
      .map((secret) => toSecretChild(secret, access.digestOf(secret.values)));
    const record = labelled.map((child) => access.readRecord(child)).find((found) => found !== undefined);
    const [nodes, unlabelled] = await Promise.all([
      this.#addHeard(seenNodes ?? [], pods, record),
      this.#settings.claims.readUnlabelled(
        { ...key, hash: access.hashOf(resource), names: access.claimNamesOf(resource, record) },
        labelled,
      ),
    ]);
    return {
      observedAtMs: this.#observedAtMs(key.namespace),
      resource,
      crdTerminating,
      children: [...labelled, ...unlabelled, ...secretChildren],
      ...(record === undefined ? {} : { record }),
      ...this.#operations(owner),
      pods: pods.map((pod) => toPodSnapshot(pod, readyNodes)).sort((a, b) => a.ordinal - b.ordinal),
      redis,
      sentinels,
      nodes,
      credentialsPresent: credentials !== undefined && access.credentialsComplete(credentials.values),
      ...(connection !== undefined && credentials !== undefined
        ? { connectionOutdated: access.connectionOutdated(connection.values, credentials.values) }
        : {}),
      ...(published === connection ? {} : { foreignSecrets: [access.connectionSecretOf(resource)] }),
    };
  }

  /** A kubelet is asked for only where its word can prove something: the pod of the recorded primary is another one now. */
  async #addHeard(
    nodes: readonly NodeSnapshot[],
    pods: readonly PodProjection[],
    record: DataSetRecord | undefined,
  ): Promise<readonly NodeSnapshot[]> {
    const { primaryPod, primaryNode, primaryHost } = record ?? {};
    const pod = pods.find(({ name }) => name === primaryPod);
    if (primaryNode === undefined || primaryHost === undefined || pod?.ip === primaryHost) return nodes;
    const heardAtMs = await this.#settings.readHeardAtMs(primaryNode);
    if (heardAtMs === undefined) return nodes;
    return nodes.map((node) => (node.name === primaryNode ? { ...node, heardAtMs } : node));
  }

  #operations(owner: string): Pick<RedisClusterSnapshot, 'operations'> {
    const operations = this.#settings.operations.of(owner);
    return operations === undefined ? {} : { operations };
  }

  /** The date of the picture: now, unless a watch has been down too long or the clock was set; then it has none to act on. */
  #observedAtMs(namespace: string): number {
    const { cache, clock } = this.#settings;
    return this.#clockWatch.isSteady() && !cache.isStale(STALE_AFTER_MS, namespace) ? clock.nowMs() : 0;
  }

  /** Deleting children is final, so for a terminating object the definition is asked anew: the watch may lag behind. */
  async #definitionTerminates(resource: RedisClusterObject): Promise<boolean> {
    if (resource.metadata.deletionTimestamp === undefined) return this.#settings.cache.definitionTerminates() ?? false;
    return this.#settings.readDefinitionTerminates();
  }

  #probeRedis(
    owner: string,
    resource: RedisClusterObject,
    pods: readonly PodProjection[],
  ): Promise<Facts<RedisNodeFacts>> {
    const login = this.#login(resource, (values, refusals) => this.#settings.access.redisLogin(values, refusals));
    const names = this.#settings.access.configNamesOf(resource);
    return this.#probe(
      pods.filter((pod) => pod.component === 'redis'),
      resource,
      async (pod) =>
        this.#addExit(owner, pod, (await this.#settings.links.redis(owner, pod, login)?.probe(names)) ?? noAddress),
    );
  }

  /** The proof counts only while the address goes on refusing, and ends with the first answer. */
  #addExit(owner: string, pod: PodProjection, facts: RedisNodeFacts): RedisNodeFacts {
    const { links } = this.#settings;
    if (facts.reachable) links.forgetExit(owner, pod.name);
    if (facts.reachable || facts.reason !== 'REFUSED') return facts;
    const exit = links.exitOf(owner, pod);
    return exit === undefined ? facts : { ...facts, exit };
  }

  #probeSentinels(
    owner: string,
    resource: RedisClusterObject,
    pods: readonly PodProjection[],
  ): Promise<Facts<SentinelFacts>> {
    const login = this.#login(resource, (values, refusals) => this.#settings.access.sentinelLogin(values, refusals));
    const masterName = this.#settings.access.masterNameOf(resource);
    return this.#probe(
      pods.filter((pod) => pod.component === 'sentinel'),
      resource,
      async (pod) => (await this.#settings.links.sentinel(owner, pod, login)?.probe(masterName)) ?? noAddress,
    );
  }

  async #probe<T extends RedisNodeFacts | SentinelFacts>(
    pods: readonly PodProjection[],
    resource: RedisClusterObject,
    ask: (pod: PodProjection) => Promise<T>,
  ): Promise<Facts<T>> {
    const hurry = this.#settings.links.sawExit(formatObjectKey(objectKeyOf(resource)));
    const answers = await Promise.all(
      pods.map(async (pod) => {
        const answer = this.#askByEachPassword(resource, () => ask(pod));
        return [pod.name, await (hurry ? withinMs(answer, HURRY_MS, noAnswer as T) : answer)] as const;
      }),
    );
    return Object.fromEntries(answers);
  }

  /** That a server lets the agent in by none of the passwords is told to a person: so each is tried, as the Secret is now. */
  async #askByEachPassword<T extends RedisNodeFacts | SentinelFacts>(
    resource: RedisClusterObject,
    ask: () => Promise<T>,
  ): Promise<T> {
    let facts = await ask();
    if (isLoginRefused(facts)) this.#settings.secrets.forget(this.#credentialsKey(resource));
    for (let tries = 1; isLoginRefused(facts) && tries < MOST_LOGINS; tries += 1) facts = await ask();
    return facts;
  }

  #login(
    resource: RedisClusterObject,
    pick: (values: Readonly<Record<string, string>>, refusals: number) => Awaited<ReturnType<CredentialsSource>>,
  ): CredentialsSource {
    const key = this.#credentialsKey(resource);
    return async (refusals) => {
      const secret = await this.#settings.secrets.read(key);
      return secret === undefined ? undefined : pick(secret.values, refusals);
    };
  }

  #credentialsKey(resource: RedisClusterObject): ObjectKey {
    const name = this.#settings.access.credentialsSecretOf(resource);
    return { namespace: resource.metadata.namespace ?? '', name };
  }
}
