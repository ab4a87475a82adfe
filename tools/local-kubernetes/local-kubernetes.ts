import { reportProgress, type Log } from '../setup/report-progress.ts';
import { ensureDebianPackages } from '../setup/ensure-debian-packages.ts';
import { MOST_NODES } from './addresses.ts';
import { endForeignCluster, runningClusters, startClusterProcess, type ClusterProcess } from './cluster-process.ts';
import { clusterFolders, STATE_FOLDER, type ClusterSpec } from './cluster-spec.ts';
import { ControlChannel } from './control-channel.ts';
import { ensureKubernetesBinary } from './ensure-kubernetes-binary.ts';
import { removeLeftovers } from './leftovers.ts';
import { LocalCluster } from './local-cluster.ts';
import { mkdir } from 'node:fs/promises';

export interface ClusterRequest {
  name: string;
  nodes: number;
  /** Dead nodes are NotReady after 8 s and their pods evicted 10 s later; Kubernetes' own defaults otherwise. */
  shortGracePeriods?: boolean;
}

export interface StartOptions {
  clusters: readonly ClusterRequest[];
  /** Paths of OCI image tars that every node shall have. */
  images?: readonly string[];
  log?: Log;
  /** The clusters live on when this process ends. Otherwise they end with it, however it ends. */
  detached?: boolean;
}

const BOOT_TIMEOUT_MS = 240_000;
const NODE_COMMANDS = {
  containerd: 'containerd',
  runc: 'runc',
  '/usr/lib/cni/ptp': 'containernetworking-plugins',
  nft: 'nftables',
  ip: 'iproute2',
  conntrack: 'conntrack',
  iptables: 'iptables',
  sysctl: 'procps',
  unshare: 'util-linux',
};

/** Real Kubernetes clusters on this machine: starts them, hands them out by name, ends them. */
export class LocalKubernetes {
  readonly #clusters: Map<string, LocalCluster>;
  readonly #processes: ClusterProcess[];

  private constructor(clusters: LocalCluster[], processes: ClusterProcess[]) {
    this.#clusters = new Map(clusters.map((cluster) => [cluster.name, cluster]));
    this.#processes = processes;
  }

  /**
   * Starts the clusters side by side; resolves when all are ready. Installs and builds what is missing first.
   * @throws when this machine cannot run them, or with the tail of the log of the part that failed; nothing is left running then
   */
  static async start(options: StartOptions): Promise<LocalKubernetes> {
    const log = options.log ?? (() => {});
    requireLinuxRoot();
    requireSoundRequest(options.clusters);
    await ensureDebianPackages(NODE_COMMANDS, log);
    const kubernetes = await ensureKubernetesBinary(log);
    await mkdir(STATE_FOLDER, { recursive: true });
    await removeLeftovers();
    const processes: ClusterProcess[] = [];
    try {
      for (const { name, nodes, shortGracePeriods = false } of options.clusters) {
        const { path: binary, pauseImage } = kubernetes;
        const images = [...(options.images ?? [])];
        const detached = options.detached ?? false;
        const wanted = { name, nodes, shortGracePeriods, binary, pauseImage, images, detached };
        processes.push(await startClusterProcess(wanted));
      }
      const clusters = await Promise.all(processes.map(({ spec }) => connectTo(spec, log)));
      const title = `starting ${options.clusters.map(({ name, nodes }) => `${name} (${nodes} nodes)`).join(', ')}`;
      await reportProgress(log, title, () => Promise.all(clusters.map((cluster) => cluster.boot(BOOT_TIMEOUT_MS))));
      return new LocalKubernetes(clusters, processes);
    } catch (error) {
      await Promise.allSettled(processes.map((process) => process.end()));
      throw error;
    }
  }

  /** Clusters of this machine that `npm run local-kubernetes -- up` keeps running; undefined when one is not there. */
  static async attach(names: readonly string[]): Promise<LocalKubernetes | undefined> {
    const running = (await detachedClusters()).filter((spec) => names.includes(spec.name));
    if (names.some((name) => !running.some((spec) => spec.name === name))) return undefined;
    const clusters = await Promise.all(running.map((spec) => connectTo(spec, () => {})));
    return new LocalKubernetes(clusters, []);
  }

  /** The cluster of this name; throws when there is none. */
  cluster(name: string): LocalCluster {
    const cluster = this.#clusters.get(name);
    if (!cluster) throw new Error(`no cluster ${name}; there are ${[...this.#clusters.keys()].join(', ')}`);
    return cluster;
  }

  get clusters(): LocalCluster[] {
    return [...this.#clusters.values()];
  }

  /** Ends all clusters it started, at once, and removes every trace; clusters it was attached to run on. */
  async stop(): Promise<void> {
    for (const cluster of this.#clusters.values()) cluster.disconnect();
    await Promise.all(this.#processes.map((process) => process.end()));
  }
}

/** The clusters that outlive the command that started them. */
export async function detachedClusters(): Promise<ClusterSpec[]> {
  return (await runningClusters()).filter((spec) => spec.detached);
}

/** Ends such clusters; with no names, all of them. Returns the names of those it ended. */
export async function endDetachedClusters(names: readonly string[]): Promise<string[]> {
  const chosen = (await detachedClusters()).filter((spec) => names.length === 0 || names.includes(spec.name));
  await Promise.all(chosen.map((spec) => endForeignCluster(spec)));
  await removeLeftovers();
  return chosen.map((spec) => spec.name);
}

async function connectTo(spec: ClusterSpec, log: Log): Promise<LocalCluster> {
  const say = (line: string) => log(`${spec.name}: ${line}`);
  return new LocalCluster(spec, await ControlChannel.open(spec.name, clusterFolders(spec.index).controlSocket, say));
}

function requireLinuxRoot(): void {
  if (process.platform === 'linux' && process.getuid?.() === 0) return;
  throw new Error(
    'local Kubernetes clusters need Linux and root; on any existing clusters run ' +
      '`npm run demo -- --kubeconfig FILE --context A --context B` instead',
  );
}

function requireSoundRequest(clusters: readonly ClusterRequest[]): void {
  const names = clusters.map((cluster) => cluster.name);
  if (new Set(names).size < names.length) throw new Error(`each cluster needs a name of its own: ${names.join(', ')}`);
  for (const { name, nodes } of clusters) {
    if (!/^[a-z][a-z0-9-]{0,30}$/.test(name)) throw new Error(`not a cluster name: "${name}"`);
    if (!Number.isInteger(nodes) || nodes < 1 || nodes > MOST_NODES) {
      throw new Error(`cluster ${name}: 1 to ${MOST_NODES} nodes, not ${nodes}`);
    }
  }
}
