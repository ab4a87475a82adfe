/** What e2e files do in a member cluster: read objects, wait for a state, talk to Redis as its users do. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { connectRedis, readConnection as readFleetConnection, type Kubectl } from '../tools/fleet/connect-redis.ts';
import type { LocalCluster } from '../tools/local-kubernetes/index.ts';

export interface KubeItem {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  // Kubernetes objects of any kind: each test names the fields it reads.
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

export interface PodItem extends KubeItem {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly args?: readonly string[] }[];
  };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly restartCount: number;
      readonly containerID?: string;
    }[];
  };
}

/** Runs kubectl and answers its stdout; throws with its stderr when it fails. */
export async function kubectl(cluster: LocalCluster, args: readonly string[], input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input === undefined ? {} : { input });
  if (result.exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export async function getItem<T extends KubeItem = KubeItem>(
  cluster: LocalCluster,
  namespace: string,
  kind: string,
  name: string,
): Promise<T | undefined> {
  const text = await kubectl(cluster, ['get', kind, name, '-n', namespace, '-o', 'json', '--ignore-not-found']);
  return text.trim() === '' ? undefined : (JSON.parse(text) as T);
}

export async function listItems<T extends KubeItem = KubeItem>(
  cluster: LocalCluster,
  namespace: string,
  kind: string,
  selector?: string,
): Promise<T[]> {
  const filter = selector === undefined ? [] : ['-l', selector];
  const list = JSON.parse(await kubectl(cluster, ['get', kind, '-n', namespace, '-o', 'json', ...filter])) as {
    items: T[];
  };
  return list.items;
}

/** The data pods of one RedisCluster, by name. */
export async function dataPods(cluster: LocalCluster, namespace: string, name: string): Promise<PodItem[]> {
  const selector = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=redis`;
  const pods = await listItems<PodItem>(cluster, namespace, 'pods', selector);
  return pods.sort((left, right) => left.metadata.name.localeCompare(right.metadata.name));
}

/** Polls until `probe` answers something; errors of a probe count as "not yet". Throws with the last of them at the end. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await sleep(200);
  }
  throw new Error(`not within ${timeoutMs / 1000} s: ${what}`, { cause: lastError });
}

export async function makeNamespace(cluster: LocalCluster, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kubectl(
    cluster,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
  );
}

const asFleetKubectl =
  (cluster: LocalCluster): Kubectl =>
  (args) =>
    kubectl(cluster, args);

export const readConnection = (
  cluster: LocalCluster,
  namespace: string,
  name: string,
): Promise<Record<string, string>> =>
  waitFor(`Secret ${name}-connection`, () => readFleetConnection(asFleetKubectl(cluster), namespace, name));

export const connectClient = (cluster: LocalCluster, namespace: string, name: string): Promise<Redis> =>
  connectRedis(asFleetKubectl(cluster), namespace, name);

/** Runs commands through redis-cli inside the pod; the password goes through stdin, never through arguments. */
export async function redisCli(
  cluster: LocalCluster,
  namespace: string,
  pod: string,
  commands: readonly string[],
): Promise<string> {
  const instance = await kubectl(cluster, [
    'get',
    'pod',
    pod,
    '-n',
    namespace,
    '-o',
    'jsonpath={.metadata.labels.app\\.kubernetes\\.io/instance}',
  ]);
  const { username, password } = await readConnection(cluster, namespace, instance);
  const input = [`AUTH ${username ?? ''} ${password ?? ''}`, ...commands, ''].join('\n');
  return kubectl(cluster, ['exec', '-i', '-n', namespace, pod, '-c', 'redis', '--', 'redis-cli'], input);
}

export interface AppliedRedisCluster {
  readonly namespace: string;
  readonly name: string;
  readonly spec: unknown;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `kubectl apply`, as somebody without a hub does it. */
export async function applyRedisCluster(cluster: LocalCluster, applied: AppliedRedisCluster): Promise<void> {
  const { namespace, name, spec, annotations = {} } = applied;
  const metadata = { name, namespace, annotations };
  const object = { apiVersion: 'redis.atoll.dev/v1alpha1', kind: 'RedisCluster', metadata, spec };
  await kubectl(cluster, ['apply', '--server-side', '--field-manager=kubectl', '-f', '-'], JSON.stringify(object));
}

export interface LocalRedisCluster extends KubeItem {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly currentPrimary?: string;
    readonly primaryTerm?: number;
    readonly readyPods?: number;
    readonly dataSetId?: string;
    readonly decisions?: readonly { readonly time: string; readonly action: string; readonly reason: string }[];
    readonly setAside?: readonly { readonly pod: string; readonly file: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

export const readLocal = (
  cluster: LocalCluster,
  namespace: string,
  name: string,
): Promise<LocalRedisCluster | undefined> => getItem<LocalRedisCluster>(cluster, namespace, 'arc', name);

/** Waits until the member cluster itself says that the object is Ready at its newest generation. */
export function waitLocallyReady(
  cluster: LocalCluster,
  namespace: string,
  name: string,
  timeoutMs = 120_000,
): Promise<LocalRedisCluster> {
  return waitFor(
    `${namespace}/${name} Ready`,
    async () => {
      const object = await readLocal(cluster, namespace, name);
      const settled =
        object?.status?.phase === 'Ready' && object.status.observedGeneration === object.metadata.generation;
      return settled ? object : undefined;
    },
    timeoutMs,
  );
}
