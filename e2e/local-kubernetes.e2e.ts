/** The local clusters themselves: what demo, tests and benchmarks rely on, and that nothing is left of them. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureEngineImage, LocalKubernetes, type LocalCluster } from '../tools/local-kubernetes/index.ts';

const NAMESPACE = 'trial';
/** What a redis-cli that heard nothing for three seconds ends with: neither an answer nor a reset. */
const SILENCE = 'command terminated with exit code 124';
const log = (line: string): void => console.error(`local-kubernetes: ${line}`);

/** Ids of the processes that descend from a process, itself not included, as the host sees them. */
/** Without those of `leftOut`, and what they started: the other clusters go on starting processes. */
function descendants(root: number, leftOut: readonly number[] = []): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      continue; // ended meanwhile
    }
  }
  const found = [root];
  for (const parent of found)
    for (const [pid, ppid] of parents) if (ppid === parent && !leftOut.includes(pid)) found.push(pid);
  return found.slice(1);
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const links = (): string[] => readdirSync('/sys/class/net');

function cgroupFolders(index: number): string[] {
  const top = readdirSync('/sys/fs/cgroup', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = top.flatMap((entry) => [entry.name, ...readdirSync(`/sys/fs/cgroup/${entry.name}`)]);
  return names.filter((name) => name.startsWith(`atoll-${index}-`));
}

async function waitFor(what: string, condition: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s for ${what}`);
    await sleep(200);
  }
}

async function pingFromHere(address: string): Promise<string> {
  const redis = new Redis({ host: address, lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: 5_000 });
  try {
    await redis.connect();
    return await redis.ping();
  } finally {
    redis.disconnect();
  }
}

/** Two pods on two nodes, each with a volume of its own, in a namespace that enforces the restricted profile. */
const MANIFEST = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cache', namespace: NAMESPACE },
      spec: { clusterIP: 'None', selector: { app: 'cache' }, ports: [{ port: 6379 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'any', namespace: NAMESPACE },
      spec: { selector: { app: 'cache' }, ports: [{ port: 6379 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'cache', namespace: NAMESPACE },
      spec: {
        serviceName: 'cache',
        replicas: 2,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: { app: 'cache' } },
        template: {
          metadata: { labels: { app: 'cache' } },
          spec: {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'DoNotSchedule',
                labelSelector: { matchLabels: { app: 'cache' } },
              },
            ],
            securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                name: 'redis',
                image: 'docker.io/library/redis:8.0',
                command: ['redis-server', '--dir', '/data', '--protected-mode', 'no', '--appendonly', 'yes'],
                securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
                readinessProbe: { exec: { command: ['redis-cli', 'ping'] }, periodSeconds: 1 },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  ],
});

describe('local Kubernetes', () => {
  let kubernetes: LocalKubernetes;
  let cluster: LocalCluster;
  let host: Server;

  const kubectl = async (...args: string[]): Promise<string> => {
    const result = await cluster.kubectl(['--namespace', NAMESPACE, ...args]);
    if (result.exitCode !== 0) throw new Error(result.stderr);
    return result.stdout;
  };
  const redisCli = async (...args: string[]): Promise<string> => {
    const result = await cluster.exec(NAMESPACE, 'cache-0', 'redis', ['timeout', '3', 'redis-cli', ...args]);
    return (result.stdout + result.stderr).trim();
  };
  const nodeReady = async (name: string): Promise<string> =>
    kubectl('get', 'node', name, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
  const podsReady = (): Promise<string> =>
    kubectl('wait', '--for=condition=Ready', 'pod/cache-0', 'pod/cache-1', '--timeout=50s');
  const port = (): number => (host.address() as AddressInfo).port;

  beforeAll(async () => {
    const image = await ensureEngineImage('redis:8.0', log);
    if ('unavailable' in image) throw new Error(image.reason);
    const clusters = [{ name: 'trial', nodes: 2, shortGracePeriods: true }];
    kubernetes = await LocalKubernetes.start({ clusters, images: [image.path], log });
    cluster = kubernetes.cluster('trial');
    const applied = await cluster.kubectl(['apply', '-f', '-'], { input: MANIFEST });
    expect(applied.stderr).toBe('');
    await kubectl('rollout', 'status', 'statefulset/cache', '--timeout=60s');
    // An answer to any question: all that is asked of it is whether one gets through.
    host = createServer((socket) => socket.on('error', () => socket.destroy()).end('+PONG\r\n'));
    await new Promise<void>((resolve) => host.listen(0, cluster.hostAddress, resolve));
  });

  afterAll(async () => {
    host?.close();
    await kubernetes?.stop();
  });

  it('runs a restricted pod as uid 999 that can write its volume', async () => {
    expect((await cluster.exec(NAMESPACE, 'cache-0', 'redis', ['id', '-u'])).stdout.trim()).toBe('999');
    const written = await cluster.exec(NAMESPACE, 'cache-0', 'redis', ['sh', '-c', 'echo kept >/data/note']);
    expect(written.exitCode).toBe(0);
    expect(await cluster.logs(NAMESPACE, 'cache-0', 'redis')).toContain('Ready to accept connections');
  });

  it('grows a volume when its claim asks for more', async () => {
    await kubectl('patch', 'pvc', 'data-cache-0', '--patch', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}');
    const capacity = () => kubectl('get', 'pvc', 'data-cache-0', '-o', 'jsonpath={.status.capacity.storage}');
    await waitFor('the larger volume', async () => (await capacity()) === '2Gi', 10_000);
  });

  it('connects pods on two nodes by pod name, by service name, and by service address', async () => {
    expect(await redisCli('-h', 'cache-1.cache', 'ping')).toBe('PONG');
    expect(await redisCli('-h', 'cache-1.cache.trial.svc.cluster.local', 'ping')).toBe('PONG');
    expect(await redisCli('-h', 'any', 'ping')).toBe('PONG');
    expect(await redisCli('-h', 'no-such-name', 'ping')).toContain('Name or service not known');
  });

  it('lets the host reach pods, and pods reach the host', async () => {
    const ip = await kubectl('get', 'pod', 'cache-1', '-o', 'jsonpath={.status.podIP}');
    expect(await pingFromHere(ip)).toBe('PONG');
    expect(await redisCli('-h', cluster.hostAddress, '-p', String(port()), 'ping')).toBe('PONG');
  });

  it('cuts a cluster off from an address and restores it', async () => {
    const ping = () => redisCli('-h', cluster.hostAddress, '-p', String(port()), 'ping');
    await cluster.cutOff(cluster.hostAddress, port());
    expect(await ping()).toBe(SILENCE);
    await cluster.restore();
    expect(await ping()).toBe('PONG');
  });

  it('partitions a node from another one, from the hub, and heals it', async () => {
    const nodeNumber = async (pod: string): Promise<number> =>
      Number((await kubectl('get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}')).split('-').at(-1));
    const [own, other] = [await nodeNumber('cache-0'), await nodeNumber('cache-1')];
    const ip = await kubectl('get', 'pod', 'cache-1', '-o', 'jsonpath={.status.podIP}');
    await cluster.node(own).partition(other);
    expect(await redisCli('-h', ip, 'ping')).toBe(SILENCE);
    expect(await redisCli('-h', cluster.hostAddress, '-p', String(port()), 'ping')).toBe('PONG');
    await cluster.node(own).partition('hub');
    expect(await redisCli('-h', cluster.hostAddress, '-p', String(port()), 'ping')).toBe(SILENCE);
    await cluster.node(own).heal();
    expect(await redisCli('-h', ip, 'ping')).toBe('PONG');
    expect(await redisCli('-h', cluster.hostAddress, '-p', String(port()), 'ping')).toBe('PONG');
  });

  it('shows a killed node as NotReady, and its pod runs on with its data when the node is back', async () => {
    const victim = (await kubectl('get', 'pod', 'cache-0', '-o', 'jsonpath={.spec.nodeName}')).split('-').at(-1);
    const node = cluster.node(Number(victim));
    await node.kill();
    await expect(node.exec(['true'])).rejects.toThrow('is down');
    await waitFor('NotReady', async () => (await nodeReady(node.name)) === 'Unknown', 30_000);
    await node.start();
    await waitFor('Ready', async () => (await nodeReady(node.name)) === 'True');
    await waitFor('the pod', async () => (await podsReady()) !== '');
    expect((await cluster.exec(NAMESPACE, 'cache-0', 'redis', ['cat', '/data/note'])).stdout).toBe('kept\n');
  });

  it('pauses and resumes a node', async () => {
    const node = cluster.node(2);
    await node.pause();
    await waitFor('NotReady', async () => (await nodeReady(node.name)) === 'Unknown', 30_000);
    await node.resume();
    await waitFor('Ready', async () => (await nodeReady(node.name)) === 'True');
    await waitFor('the pods', async () => (await podsReady()) !== '');
  });

  it('parts a node from the API server, which lists it as NotReady while its pods run on', async () => {
    const node = cluster.node(2);
    const ip = await kubectl('get', 'pods', '-o', `jsonpath={.items[?(@.spec.nodeName=="${node.name}")].status.podIP}`);
    await node.partition('apiServer');
    await waitFor('NotReady', async () => (await nodeReady(node.name)) === 'Unknown', 30_000);
    expect(await pingFromHere(ip)).toBe('PONG');
    await node.heal();
    await waitFor('Ready', async () => (await nodeReady(node.name)) === 'True');
    await waitFor('the pods', async () => (await podsReady()) !== '');
  });

  it('pauses the API server, which answers again when resumed', async () => {
    await cluster.apiServer.pause();
    expect((await cluster.kubectl(['get', 'nodes', '--request-timeout=2s'])).exitCode).not.toBe(0);
    await cluster.apiServer.resume();
    await cluster.ready();
  });

  it('keeps pods running without the API server, which comes back with all it knew', async () => {
    const ip = await kubectl('get', 'pod', 'cache-1', '-o', 'jsonpath={.status.podIP}');
    await cluster.apiServer.kill();
    expect((await cluster.kubectl(['get', 'nodes', '--request-timeout=3s'])).exitCode).not.toBe(0);
    expect(await pingFromHere(ip)).toBe('PONG');
    await cluster.apiServer.start();
    await cluster.ready();
    expect(await kubectl('get', 'pods', '-o', 'name')).toBe('pod/cache-0\npod/cache-1\n');
  });

  it('leaves no process, no bridge, no cgroup and no file when stopped', async () => {
    const before = descendants(process.pid);
    const second = await LocalKubernetes.start({ clusters: [{ name: 'short', nodes: 1 }], log });
    const { index, kubeconfigPath } = second.cluster('short');
    const processes = descendants(process.pid, before);
    expect(processes.length).toBeGreaterThan(8);
    expect(links()).toContain(`atoll${index}`);
    expect(cgroupFolders(index)).not.toEqual([]);
    await second.stop();
    expect(processes.filter(isAlive)).toEqual([]);
    expect(links().filter((link) => link.startsWith(`atoll${index}`))).toEqual([]);
    expect(cgroupFolders(index)).toEqual([]);
    expect(() => readFileSync(kubeconfigPath)).toThrow('ENOENT');
  });

  it('leaves no process when the process that started it is killed, and the next start removes the rest', async () => {
    const library = new URL('../tools/local-kubernetes/index.ts', import.meta.url).href;
    const program = `import { LocalKubernetes } from '${library}';
      const started = await LocalKubernetes.start({ clusters: [{ name: 'orphan', nodes: 1 }] });
      console.log(started.cluster('orphan').index);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const index = Number(
      await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data)))),
    );
    const processes = descendants(parent.pid ?? 0);
    expect(processes.length).toBeGreaterThan(8);
    parent.kill('SIGKILL');
    await waitFor('all of them to end', () => processes.filter(isAlive).length === 0, 10_000);
    expect(links()).toContain(`atoll${index}`);
    const next = await LocalKubernetes.start({ clusters: [{ name: 'next', nodes: 1 }], log });
    const left = links().filter((link) => link.startsWith(`atoll${index}`));
    expect(next.cluster('next').index === index || left.length === 0).toBe(true);
    await next.stop();
    expect(links().filter((link) => link.startsWith(`atoll${index}`))).toEqual([]);
  });
});
