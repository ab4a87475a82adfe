/**
 * A member cluster without containers: the fake API server, and a kubelet that starts one real redis-server for each
 * data pod of a StatefulSet. The agent that runs against it is the real bundle, over TLS as everywhere, and everything it
 * says to Redis is real.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LABEL, REDIS_PORT, SENTINEL_PORT, WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT, type KubeObject } from '#domain';
import { FakeKubeServer, createTestCertificates } from '#testing';
import { LoopbackRedis } from './loopback-redis.ts';

const BY = { manager: 'scripted-kubelet', operation: 'Update', dryRun: false } as const;
const SPEC = { ...BY, subresource: '' };
const STATUS = { ...BY, subresource: 'status' };
const NODE = 'scripted-1';
const BOOKMARK_MS = 20_000;

interface StatefulSetFields {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: unknown;
    };
  };
}

export class ScriptedMember {
  readonly redis: LoopbackRedis;
  readonly #server: FakeKubeServer;
  readonly #caPem: string;
  readonly #folder: string;
  readonly #bookmarks: NodeJS.Timeout;

  private constructor(server: FakeKubeServer, caPem: string, folder: string, redis: LoopbackRedis) {
    this.redis = redis;
    this.#server = server;
    this.#caPem = caPem;
    this.#folder = folder;
    this.#bookmarks = setInterval(() => server.watches.sendBookmarks(), BOOKMARK_MS);
    this.#createNode();
    // By its uid an agent tells its member cluster from another.
    const system = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } };
    server.store.create({ collection: 'v1/namespaces', namespace: undefined, name: 'kube-system' }, system, SPEC);
    server.store.subscribe(({ type, collection, object }) => {
      if (type === 'ADDED' && collection === 'apps/v1/statefulsets') setImmediate(() => this.#runPods(object));
    });
  }

  /** `argv` starts a redis-server. */
  static async start(argv: readonly string[]): Promise<ScriptedMember> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-scripted-'));
    const { caPem, certificatePem: cert, privateKeyPem: key } = await createTestCertificates();
    const server = await FakeKubeServer.start({ tls: { cert, key } });
    return new ScriptedMember(server, caPem, folder, new LoopbackRedis(argv));
  }

  /** Writes a kubeconfig; answers its path. */
  async writeKubeconfig(): Promise<string> {
    const path = join(this.#folder, 'kubeconfig');
    const ca = Buffer.from(this.#caPem).toString('base64');
    const text = {
      'current-context': 'scripted',
      contexts: [{ name: 'scripted', context: { cluster: 'scripted', namespace: 'atoll-system' } }],
      clusters: [{ name: 'scripted', cluster: { server: this.#server.url, 'certificate-authority-data': ca } }],
    };
    await writeFile(path, JSON.stringify(text));
    return path;
  }

  createRedisCluster(namespace: string, name: string, spec: unknown): void {
    const object = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace, name },
      spec,
    };
    this.#server.store.create({ collection: 'redis.atoll.dev/v1alpha1/redisclusters', namespace, name }, object, SPEC);
  }

  /** How many RedisClusters say that they are in this phase. */
  countPhase(phase: string): number {
    const all = this.#server.store.list('redis.atoll.dev/v1alpha1/redisclusters', undefined);
    return all.filter(({ status }) => (status as { phase?: string } | undefined)?.phase === phase).length;
  }

  createOperation(namespace: string, name: string, spec: unknown): void {
    const object = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { namespace, name },
      spec,
    };
    this.#server.store.create(
      { collection: 'redis.atoll.dev/v1alpha1/redisoperations', namespace, name },
      object,
      SPEC,
    );
  }

  phaseOf(namespace: string, name: string): string | undefined {
    return this.#statusOf(namespace, name)?.phase;
  }

  /** Address of the recorded primary. */
  primaryAddress(namespace: string, name: string): string {
    const pod = this.#statusOf(namespace, name)?.currentPrimary ?? '';
    return podIpOf(this.#server.store.read({ collection: 'v1/pods', namespace, name: pod }));
  }

  /** Address of the pod that the primary's Service selects. */
  labelledPrimary(namespace: string, name: string): string | undefined {
    const pods = this.#server.store.list('v1/pods', namespace);
    const found = pods.find(
      ({ metadata: { labels = {} } }) => labels[LABEL.instance] === name && labels[LABEL.role] === 'primary',
    );
    return found && podIpOf(found);
  }

  addresses(namespace: string, name: string, component: 'redis' | 'sentinel'): string[] {
    return this.#server.store
      .list('v1/pods', namespace)
      .filter(
        ({ metadata: { labels = {} } }) => labels[LABEL.instance] === name && labels[LABEL.component] === component,
      )
      .map(podIpOf);
  }

  /** What the Secret for clients says. */
  connection(namespace: string, name: string): { masterName: string; username: string; password: string } {
    const secret = this.#server.store.read({ collection: 'v1/secrets', namespace, name: `${name}-connection` });
    const value = (key: string): string => decode(secret, key);
    return { masterName: value('masterName'), username: value('username'), password: value('password') };
  }

  get requests(): number {
    return this.#server.requests.length;
  }

  async stop(): Promise<void> {
    clearInterval(this.#bookmarks);
    this.redis.stopAll();
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #statusOf(namespace: string, name: string): { phase?: string; currentPrimary?: string } | undefined {
    const key = { collection: 'redis.atoll.dev/v1alpha1/redisclusters', namespace, name };
    return this.#server.store.read(key)['status'] as { phase?: string; currentPrimary?: string } | undefined;
  }

  #createNode(): void {
    const key = { collection: 'v1/nodes', namespace: undefined, name: NODE };
    this.#server.store.create(key, { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }, SPEC);
    const conditions = [{ type: 'Ready', status: 'True' }];
    this.#server.store.update(key, (live) => ({ ...live, status: { conditions } }), STATUS);
  }

  #runPods(statefulSet: KubeObject): void {
    const { replicas } = (statefulSet as unknown as StatefulSetFields).spec;
    const { namespace = '', name } = statefulSet.metadata;
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) this.#runPod(statefulSet, ordinal);
    const status = {
      observedGeneration: 1,
      replicas,
      readyReplicas: replicas,
      updatedReplicas: replicas,
      currentRevision: `${name}-1`,
      updateRevision: `${name}-1`,
    };
    const key = { collection: 'apps/v1/statefulsets', namespace, name };
    this.#server.store.update(key, (live) => ({ ...live, status }), STATUS);
  }

  #runPod(statefulSet: KubeObject, ordinal: number): void {
    const { template } = (statefulSet as unknown as StatefulSetFields).spec;
    const { namespace = '', name: set } = statefulSet.metadata;
    const name = `${set}-${ordinal}`;
    const labels = { ...template.metadata.labels, 'controller-revision-hash': `${set}-1` };
    const address = this.redis.nextAddress();
    this.#startServer(statefulSet, ordinal, address);
    const key = { collection: 'v1/pods', namespace, name };
    const spec = { ...(template.spec as object), nodeName: NODE };
    this.#server.store.create(
      key,
      { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels }, spec },
      SPEC,
    );
    const status = {
      phase: 'Running',
      podIP: address,
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        {
          name: 'redis',
          ready: true,
          restartCount: 0,
          containerID: `scripted://${randomUUID()}`,
          state: { running: {} },
        },
      ],
    };
    this.#server.store.update(key, (live) => ({ ...live, status }), STATUS);
  }

  #startServer({ metadata }: KubeObject, ordinal: number, address: string): void {
    const { namespace = '', name, labels = {} } = metadata;
    const secret = this.#server.store
      .list('v1/secrets', namespace)
      .find(
        (each) =>
          each.metadata.name.endsWith('-credentials') &&
          each.metadata.labels?.[LABEL.dataSet] === labels[LABEL.dataSet],
      );
    if (secret === undefined) throw new Error(`no credentials for ${name}`);
    const password = (user: string): string => decode(secret, user);
    if (name.endsWith('-sentinel')) {
      const id = createHash('sha1').update(`${name}/${ordinal}`).digest('hex');
      this.redis.start(address, SENTINEL_PORT, sentinelLines(address, id, password), 'sentinel');
    } else {
      this.redis.start(address, REDIS_PORT, redisLines(address, password));
    }
  }
}

type Password = (user: string) => string;

/** As the startup guard starts an empty pod: a replica of nobody, until the agent decides. */
const redisLines = (address: string, password: Password): string[] => [
  'save ""',
  'hz 1',
  'dynamic-hz no',
  'enable-protected-configs yes',
  `replica-announce-ip ${address}`,
  `bind-source-addr ${address}`,
  'repl-diskless-sync-delay 0',
  `replicaof ${WAITING_PRIMARY_HOST} ${WAITING_PRIMARY_PORT}`,
  'masteruser replication',
  `masterauth ${password('replication')}`,
  'user default off resetpass ~* &* +@all',
  ...['atoll', 'app', 'sentinel'].map((user) => `user ${user} on >${password(user)} ~* &* +@all`),
  `user replication on >${password('replication')} +psync +replconf +ping`,
];

const sentinelLines = (address: string, id: string, password: Password): string[] => [
  `sentinel myid ${id}`,
  `sentinel announce-ip ${address}`,
  `sentinel announce-port ${SENTINEL_PORT}`,
  'sentinel sentinel-user sentinel',
  `sentinel sentinel-pass ${password('sentinel')}`,
  'user default off resetpass ~* &* +@all',
  ...['atoll', 'app', 'sentinel'].map((user) => `user ${user} on >${password(user)} ~* &* +@all`),
];

const decode = (secret: KubeObject, key: string): string =>
  Buffer.from((secret['data'] as Record<string, string>)[key] ?? '', 'base64').toString();

const podIpOf = (pod: KubeObject): string => (pod['status'] as { podIP?: string } | undefined)?.podIP ?? '';
